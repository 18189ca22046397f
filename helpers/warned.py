"""What the helpers warn of. Whoever shows a warning imports this, and takes no GPU with it."""

__all__ = ["CompilerWarning"]


class CompilerWarning(UserWarning):
    """What the compiler said of a text that it took."""
