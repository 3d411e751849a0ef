"""Lines that programs print of what they have written."""

import os
import sys


def say(text):
    """Prints a line; nothing more once nobody reads (`cambium plot RUN | head`), while what is to be written is still written."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
