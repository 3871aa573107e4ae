#include "support/layouts/staircase.hpp"

#include <cstdint>

#include "kernels/formats/staircase_sell/length_groups.hpp"
#include "stages/stages.hpp"
#include "support/given.hpp"

namespace workbench {

StagedMatrix staircase_of(const CsrMatrix& matrix, Index slice_height, double alpha) {
    StagedMatrix staged = stage_input(matrix);
    pass(staged, row_sort_stage(), {{"order", "ascending"}, {"apply", "rows"}});
    pass(staged, length_groups_stage(), {{"slice_height", std::int64_t{slice_height}}, {"alpha", alpha}});
    return staged;
}

}  // namespace workbench
