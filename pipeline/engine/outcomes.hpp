// What the stages and layouts of a recipe made of a matrix, as data.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/contract/layout.hpp"
#include "core/contract/parameters.hpp"
#include "core/contract/rounding.hpp"
#include "core/matrix/metrics.hpp"

namespace workbench {

/// The matrix as it is read (stage 0) or after a stage.
struct StageOutcome {
    std::string id;
    std::string name;
    Parameters parameters;
    std::optional<Precision> precision;  // the only precision that it ran for; none if it ran for all precisions
    std::string choices;                 // parameters that the recipe sets: "parts = 16, weights = \"rows\""
    double seconds = 0;                  // of the stage and of applying its change; no metrics, no pictures
    double applying_seconds = 0;         // of these, those of applying it
    Metrics metrics;
    bool stored_apart = false;  // the nonzeros are in several shares
    bool shared = false;        // it ran for an earlier recipe of this run, whose time is reported
    /// Seconds that reading the kept result took; `seconds` is then the earlier run's, plus applying the change. None: the
    /// stage ran.
    std::optional<double> kept_seconds;
    std::vector<std::pair<std::string, std::string>> notes;
    std::shared_ptr<const void> attached;  // what a client keeps of it, and finds again where a later recipe shares the stage
    std::string picture;                   // file, relative to the report; empty: none
    std::string tile_picture;              // row lengths in tiles before and after; empty: unchanged

    /// "row_sort", or "row_sort f32" if it ran for one precision only.
    [[nodiscard]] std::string label() const;
};

struct LayoutOutcome {
    struct Array {
        std::string name;
        ArrayRole role = ArrayRole::structure;
        std::size_t count = 0;
        std::size_t bytes = 0;
        std::size_t slots = 0;  // of values; a code of a block represents several
    };

    std::string name;
    std::string share;  // of a hybrid: the share that it stores; empty: all nonzeros
    Parameters parameters;
    Precision precision = Precision::f64;
    Index rows = 0;  // stored rows; 0 for a hybrid as a whole
    Offset nonzeros = 0;
    std::string unsuitable;  // the reason; empty: it was built
    double seconds = 0;
    std::optional<double> kept_seconds;     // as for a stage; for a whole hybrid, if all of its shares were kept
    std::optional<RoundingError> rounding;  // none if values are not rounded, or the layout was not built
    std::vector<Array> footprint;
    std::vector<std::pair<std::string, std::string>> notes;  // of the layout; for a hybrid, those of its shares

    [[nodiscard]] std::size_t bytes() const;
    [[nodiscard]] std::size_t slots() const;  // slots, including padding
};

}  // namespace workbench
