// Stands for a kernel beside a recipe; the fuzzers compile nothing.
