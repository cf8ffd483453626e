/* process_guard.h - what every main() does first. */
#ifndef AFPBENCH_CLI_PROCESS_GUARD_H
#define AFPBENCH_CLI_PROCESS_GUARD_H

/* Keeps what the caller of a program left out or limited from doing harm.
 *
 * A program may be started without stdin, stdout or stderr. The next file or socket would then get
 * its number, and what is printed would go there. Puts something in the place that cannot be used:
 * reading and writing fail as they do without.
 *
 * A closed pipe and a file that grows beyond its limit (`ulimit -f`) become errors of the call that
 * meets them, with their names, not the death of the program. */
void process_guard(void);

#endif
