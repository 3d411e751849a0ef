#pragma once
#include <string>

#include "plugins/pretrain/search/float_rows.hpp"

namespace cambium::pretrain {

/// Unit vectors as an archive may have them, and as it hardly has.
///   runs     1000 rows each along smooth curves, whose middle follows three parameters of the run, with noise
///   clouds   around one of 10000 places, as far from it as 0.6 of the places' length
///   uniform  over the sphere: no structure at all
/// `stream`: rows of another stream are of the same runs and places, at other times and with other noise.
FloatRows made_vectors(const std::string& kind, std::int64_t rows, std::int64_t columns, int stream);

}  // namespace cambium::pretrain
