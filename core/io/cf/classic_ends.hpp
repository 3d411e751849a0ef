#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace cambium::io::cf {

/// Offsets (bytes) behind the last number of each variable of a NetCDF-3 file, in the order of the file, by its header
/// (CDF-1, CDF-2 and CDF-5: NetCDF Users Guide, appendix "File Format Specifications"). Empty for a header that ends
/// too early. Record variables of a file whose number of records is left open end with their first record.
std::vector<std::int64_t> classic_ends(const std::string& path);

}  // namespace cambium::io::cf
