// Checks of a solve across ranks on any device, with the solve of one device as the oracle.
#pragma once

#include "core/contract/links.hpp"

namespace workbench {

/// The checks use doctest. The links are those of one rank.
void check_cg_across_ranks_as_cg(Device& device, Links& links);
void check_limits_and_restarts_across_ranks(Device& device, Links& links);
void check_ends_across_ranks(Device& device, Links& links);
/// Checks that elements that a rank sends to itself arrive in the order of the plan.
void check_exchange_with_itself(Device& device, Links& links);

}  // namespace workbench
