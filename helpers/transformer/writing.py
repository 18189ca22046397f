"""A text that appears as it is written, until it ends or is stopped."""

from .speaker import Speaker

__all__ = ["write"]


def write(
    prompt: str, seed: int = 0, temperature: float = 0.5, speaker: Speaker | None = None
) -> None:
    """Print a text that begins with the prompt, token by token. The same seed writes the same text;
    temperature: 0 leaves nothing to chance. Ctrl+C, or JupyterLab's ■, stops it."""
    pieces = (speaker or Speaker()).texts(prompt, seed, temperature)
    try:
        for piece in pieces:
            print(piece, end="", flush=True)
    except KeyboardInterrupt:
        print(" [stopped]", end="")
    finally:
        pieces.close()  # which frees its graph
    print()
