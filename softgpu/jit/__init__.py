"""From a PTX program to machine code that runs one warp, 32 lanes at a time, through LLVM."""
