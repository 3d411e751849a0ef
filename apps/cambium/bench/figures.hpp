#pragma once
#include <map>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace cambium {

/// Meaning of a smaller value of a figure.
enum class Better { lower, higher, neither };

/// Read off the words of its name, which '_' and '.' separate: seconds, ms, us, ns, mib, kib and bytes are better when
/// lower; per_s, per_hour, gflops, gbs and steps counted in millions (m_..._steps) when higher. Figures of peers
/// (lammps, pytorch, cp2k, peer, sgemm, sgemv, gemm), of the machine (limit, peak, floor), ratios, shares, errors and
/// settings are neither: they say nothing of the program alone.
Better better_when(const std::string& figure);

/// Every number of a bench's object by its path, for example "scaling.0.seconds"; without the block `measured`.
std::map<std::string, double> numbers_of(const nlohmann::json& figures);

}  // namespace cambium
