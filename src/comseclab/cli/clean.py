"""The verb `clean`."""


def clean() -> None:
    """Remove what a killed laboratory left: its processes, temporary files, stale locks.

    Example: comseclab clean
    """
    from comseclab.testbed import clean as cleaning

    found = cleaning.clean()
    for line in found:
        print(line)
    if not found:
        print("nothing was left")
