#pragma once
#include <string>

#include "plugins/pretrain/search/float_rows.hpp"

namespace cambium::pretrain {

/// Synthetic unit vectors, realistic and unrealistic ones.
///   runs     1000 rows each along smooth curves, whose middle depends on three parameters of the run, with noise
///   clouds   around one of 10000 centres, at a distance of 0.6 of the centres' length
///   uniform  over the sphere: no structure at all
/// `stream`: rows of another stream are of the same runs and centres, at other times and with other noise.
FloatRows made_vectors(const std::string& kind, std::int64_t rows, std::int64_t columns, int stream);

}  // namespace cambium::pretrain
