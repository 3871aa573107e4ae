// What a kernel that records its reads (RecordingLoad) tells of each element of an array.
#pragma once

namespace workbench {

struct Recorded {
    int times = 0;    // how often it was read
    int thread = -1;  // the one that read it last, by its number in the grid
    int turn = -1;    // how many elements of the array that thread had read before

    friend bool operator==(const Recorded&, const Recorded&) = default;
};

}  // namespace workbench
