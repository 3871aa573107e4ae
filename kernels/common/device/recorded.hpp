// What a kernel that records its reads (RecordingLoad) tells of each element of an array.
#pragma once

namespace workbench {

struct Recorded {
    int times = 0;    // read so often
    int thread = -1;  // by this one of all threads, the last time
    int turn = -1;    // after so many other elements of the array

    friend bool operator==(const Recorded&, const Recorded&) = default;
};

}  // namespace workbench
