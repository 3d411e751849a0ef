#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace cambium::io::cf {

/// End offsets (bytes) of the data of each variable of a NetCDF-3 file, in file order, from its header (CDF-1, CDF-2
/// and CDF-5: NetCDF Users Guide, appendix "File Format Specifications"). Empty for a truncated header. If the number
/// of records is left open, record variables end with their first record.
std::vector<std::int64_t> classic_ends(const std::string& path);

}  // namespace cambium::io::cf
