"""A small language model that writes a dictionary's definitions, and its step on a GPU.

scripts/train_transformer.py made its weights, which model.int8.npz holds."""
