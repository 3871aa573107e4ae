#include "frontends/cli/commands.hpp"

int main(int argc, char** argv) { return workbench::run_program(argc, argv); }
