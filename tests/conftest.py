"""What holds for every test."""

import signal

# In the background of a shell a program ignores Ctrl-C, and so would every laboratory that a test interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)
