/* standard_streams.h - what every main() does first. */
#ifndef AFPBENCH_CLI_STANDARD_STREAMS_H
#define AFPBENCH_CLI_STANDARD_STREAMS_H

/* A program may be started without stdin, stdout or stderr. The next file or socket would then get
 * its number, and what is printed would go there. Puts something in the place that cannot be used:
 * reading and writing fail as they do without. */
void standard_streams_guard(void);

#endif
