// Animations as MP4, encoded by ffmpeg.
#pragma once

#include <span>
#include <string>

#include "viz/animation.hpp"

namespace workbench {

/// Throws MachineError if ffmpeg is not on PATH.
void require_movie_encoder(const std::string& file);

/// The frames as an MP4 with H.264. Odd sizes grow by a white pixel. Throws MachineError if ffmpeg fails, with what it printed.
[[nodiscard]] std::string movie_bytes(std::span<const AnimationFrame> frames);

}  // namespace workbench
