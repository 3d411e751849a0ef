#pragma once
#include "core/plugin/bench.hpp"

namespace cambium::podlstm {

/// `cambium bench search`: evaluations per hour and core of networks of the paper's space (20 epochs, batch 64), the
/// same training by PyTorch in the same call if peer=SCRIPT (studies/podlstm_torch.py) and python3 with torch are
/// available, and, on two or more ranks, the fraction of the time that workers are busy if trials differ in length.
Bench bench_search();

}  // namespace cambium::podlstm
