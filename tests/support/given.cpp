#include "support/given.hpp"

namespace workbench {

StageResult pass(StagedMatrix& staged, const StageEntry& stage, const Given& given) {
    const Parameters parameters(stage.parameters, given);
    StageResult result = stage.run(staged, parameters, {});
    apply(staged, result.change, stage.contract(parameters).keeps);
    return result;
}

}  // namespace workbench
