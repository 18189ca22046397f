"""Write a definition, token by token."""

import argparse

from .writing import write


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m helpers.transformer")
    parser.add_argument("prompt", nargs="?", default="KERNEL, n.", help="how the text begins")
    parser.add_argument("--seed", type=int, default=0, help="the same seed writes the same text")
    parser.add_argument("--temperature", type=float, default=0.5, help="0: no chance involved")
    told = parser.parse_args()
    write(told.prompt, told.seed, told.temperature)


if __name__ == "__main__":
    main()
