/* version.h - what this is: "0.1.0 (1a2b3c4)", with git's name of the source it was built from, and
 * "-dirty" where that was changed; "0.1.0" of a tree without git. Made by scripts/revision. */
#ifndef AFPBENCH_BASE_VERSION_H
#define AFPBENCH_BASE_VERSION_H

extern const char afpbench_version[];

#endif
