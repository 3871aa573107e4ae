// The start of a format in one file, for `workbench new format`. NAME is replaced by the name of the format, TYPE by that of
// its struct.
#pragma once

namespace workbench {

extern const char* const format_source;
extern const char* const loop_format_source;  // with loops of its own instead of a schedule
extern const char* const format_recipe;

}  // namespace workbench
