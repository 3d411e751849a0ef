#pragma once
#include <map>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace cambium {

/// Meaning of a smaller value of a figure.
enum class Better { lower, higher, neither };

/// From the words of its name, separated by '_' and '.': seconds, ms, us, ns, mib, kib and bytes are better when lower;
/// per_s, per_hour, gflops, gbs and steps counted in millions (m_..._steps) when higher. Figures of reference
/// implementations (lammps, pytorch, cp2k, peer, sgemm, sgemv, gemm), of the machine (limit, peak, floor), ratios,
/// fractions, errors and settings are neither: they do not measure the program itself.
Better better_when(const std::string& figure);

/// Every number of a bench's object by its path, for example "scaling.0.seconds"; without the block `measured`.
std::map<std::string, double> numbers_of(const nlohmann::json& figures);

}  // namespace cambium
