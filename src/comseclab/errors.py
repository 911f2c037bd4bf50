"""The one error a user is meant to see: it names the cause and the remedy."""


class LabError(Exception):
    """Wrong input or environment. The command line prints it as one line and exits with code 2."""

    def __init__(self, cause: str, remedy: str = "") -> None:
        self.cause = cause
        self.remedy = remedy
        super().__init__(f"{cause} ({remedy})" if remedy else cause)
