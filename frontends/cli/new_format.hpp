// The start of a format in one file, for `workbench new format`. NAME stands for the name of the format, TYPE for that of its
// struct.
#pragma once

namespace workbench {

extern const char* const format_source;
extern const char* const format_recipe;

}  // namespace workbench
