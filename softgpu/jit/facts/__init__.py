"""What is known before anything is analysed: opcodes, types, where variables lie."""
