#pragma once
// LAMMPS' headers call fmt::make_args_checked, which fmt dropped in release 9. Included before them by the compiler's
// command line.
#include <fmt/format.h>

#if FMT_VERSION >= 90000
namespace fmt {
template <class... Arguments, class Format>
auto make_args_checked(const Format&, const std::remove_reference_t<Arguments>&... arguments) {
  return make_format_args(arguments...);
}
}  // namespace fmt
#endif
