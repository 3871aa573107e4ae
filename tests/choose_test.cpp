// Choosing a recipe. Predictions are compared with what layouts build, and with times measured on an H200.
#include <doctest/doctest.h>
