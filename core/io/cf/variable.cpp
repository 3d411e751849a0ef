#include "core/io/cf/variable.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "core/base/error.hpp"
#include "core/io/hdf5/foreign.hpp"

namespace cambium::io::cf {

std::size_t size_of(Stored type) {
  constexpr std::array<std::size_t, 10> sizes{1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
  return sizes[static_cast<std::size_t>(type)];
}

bool is_real(Stored type) { return type == Stored::f32 || type == Stored::f64; }

std::string words_for(Stored type) {
  const bool is_unsigned = type == Stored::u8 || type == Stored::u16 || type == Stored::u32 || type == Stored::u64;
  return fmt::format("{}{}-bit {}", is_unsigned ? "unsigned " : "", 8 * size_of(type),
                     is_real(type) ? "real numbers" : "integers");
}

std::string Variable::text(const std::string& name) const {
  const auto found = attribute(name);
  return found && !found->type ? found->text : "";
}

/// netcdf.h: NC_FILL_BYTE and its like.
long double netcdf_fill(Stored type) {
  switch (type) {
    case Stored::i8:
      return -127;
    case Stored::u8:
      return 255;
    case Stored::i16:
      return -32767;
    case Stored::u16:
      return 65535;
    case Stored::i32:
      return -2147483647;
    case Stored::u32:
      return 4294967295U;
    case Stored::i64:
      return -9223372036854775806LL;
    case Stored::u64:
      return 18446744073709551614ULL;
    default:
      return 9.9692099683868690e+36;
  }
}

std::unique_ptr<Container> open_container(const std::string& path) {
  char magic[4] = {};
  std::ifstream in(path, std::ios::binary);
  if (!in) throw InputError(fmt::format("cannot open '{}': {}; correct the path", path, std::strerror(errno)));
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode))
    throw InputError(fmt::format("cannot open '{}': it is {}", path, foreign_folder(path, "the files")));
  in.read(magic, 4);
  if (std::memcmp(magic, "CDF", 3) == 0) return open_classic_container(path);
  return open_hdf5_container(path);
}

}  // namespace cambium::io::cf
