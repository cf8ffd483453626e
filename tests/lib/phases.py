"""The moments of a run of afp_speedtest at which tests let something go wrong."""

from dataclasses import dataclass

from programs import CANNOT_RUN, TEST_FAILED, as_guest

TIMEOUT_S = 1
# 3 runs of 3 requests of 64 KiB, two at a time
RUN = ('-n', 3, '-W', 0, '-d', '192k', '-q', 64, '-r', 2, '--timeout', TIMEOUT_S)


@dataclass
class Phase:
    """A moment of a run: its request, what then runs, and how its failure shows."""

    request: str
    code: int                   # of the program
    names: str                  # pattern that the message must have: what failed
    test: str = 'Write'
    rows: int = 0               # finished before
    directory: bool = False     # the run's directory is on the server by then


# the fill of a source is 3 writes; the second run's second chunk is the fifth request
PHASES = {
    'server info': Phase('DSIGetStatus', CANNOT_RUN, 'DSIGetStatus'),
    'open session': Phase('DSIOpenSession', CANNOT_RUN, 'OpenSession'),
    'login': Phase('FPLogin*', CANNOT_RUN, 'FPLogin|login as guest at 127'),
    'open volume': Phase('FPOpenVol', CANNOT_RUN, "FPOpenVol|volume 'bench'"),
    'make directory': Phase('FPCreateDir', TEST_FAILED, 'FPCreateDir'),
    'make file': Phase('FPCreateFile', TEST_FAILED, 'FPCreateFile', directory=True),
    'open file': Phase('FPOpenFork', TEST_FAILED, 'FPOpenFork', directory=True),
    'read': Phase('FPReadExt#5', TEST_FAILED, '(read|FPReadExt) of 65536 bytes at offset',
                  'Read', 1, True),
    'write': Phase('FPWriteExt#5', TEST_FAILED, '(write|FPWriteExt) of 65536 bytes at offset',
                   'Write', 1, True),
    'copy': Phase('FPReadExt#5', TEST_FAILED,
                  '(read|write|FP(Read|Write)Ext) of 65536 bytes at offset', 'Copy', 1, True),
    'server copy': Phase('FPCopyFile#2', TEST_FAILED, 'FPCopyFile', 'ServerCopy', 1, True),
    'flush': Phase('FPFlushFork#2', TEST_FAILED, 'FPFlushFork', 'Write', 1, True),
    'clean-up': Phase('FPDelete', TEST_FAILED, 'FPDelete', 'Write', 3, True),
}


def arguments(server, test):
    return as_guest(server, '-f', test, *RUN)
