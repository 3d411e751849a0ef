#include "core/io/cf/units.hpp"

#include <algorithm>
#include <cctype>
#include <mutex>
#include <utility>

#include "core/base/constants.hpp"
#include "core/base/text.hpp"
#ifdef CAMBIUM_HAVE_UDUNITS
#include <udunits2.h>
#endif

namespace cambium::io::cf {
namespace {

/// The usual spellings, for a build without UDUNITS-2.
std::optional<double> usual(const std::string& spelt, bool time) {
  const std::string unit =
      spelt.size() > 2 ? in_small_letters(spelt) : spelt;  // names in any letters, symbols as they are
  for (const auto& [words, size] : {std::pair{" second seconds sec secs s ", 1.0},
                                    {" minute minutes min mins ", 60.0},
                                    {" hour hours hr hrs h ", 3600.0},
                                    {" day days d ", 86400.0},
                                    {" week weeks ", 604800.0}})
    if (time && std::string(words).find(" " + unit + " ") != std::string::npos) return size;
  for (const auto& [words, size] :
       {std::pair{" degree degrees deg ", 1.0}, {" radian radians rad ", 180.0 / constants::pi}})
    if (!time && std::string(words).find(" " + unit + " ") != std::string::npos) return size;
  return std::nullopt;
}

#ifdef CAMBIUM_HAVE_UDUNITS
/// The library's table of units; null if the file is missing. Read once; callers hold the lock, as the library has one
/// global state.
ut_system* table() {
  static ut_system* const system = [] {
    ut_set_error_message_handler(ut_ignore);
    return ut_read_xml(nullptr);
  }();
  return system;
}
std::mutex& lock() {
  static std::mutex mutex;
  return mutex;
}

std::optional<double> in(const std::string& unit, const char* base) {
  ut_unit* from = ut_parse(table(), unit.c_str(), UT_UTF8);
  ut_unit* to = ut_parse(table(), base, UT_UTF8);
  std::optional<double> size;
  if (from && to && ut_are_convertible(from, to) != 0)
    if (cv_converter* converter = ut_get_converter(from, to)) {
      const double one = cv_convert_double(converter, 1.0), zero = cv_convert_double(converter, 0.0);
      if (zero == 0.0) size = one;  // a unit with an offset is not a duration
      cv_free(converter);
    }
  ut_free(from);
  ut_free(to);
  return size;
}
#endif

bool is_same(const std::string& a, const std::string& b) {
#ifdef CAMBIUM_HAVE_UDUNITS
  const std::lock_guard guard(lock());
  if (!table()) return false;
  ut_unit *one = ut_parse(table(), a.c_str(), UT_UTF8), *other = ut_parse(table(), b.c_str(), UT_UTF8);
  const bool same = one && other && ut_compare(one, other) == 0;
  ut_free(one);
  ut_free(other);
  return same;
#else
  (void)a, (void)b;
  return false;
#endif
}

std::optional<double> unit_size(const std::string& unit, bool time) {
  if (unit.empty()) return std::nullopt;
  if (const auto size = usual(unit, time)) return size;
#ifdef CAMBIUM_HAVE_UDUNITS
  const std::lock_guard guard(lock());
  if (table()) return in(unit, time ? "second" : "degree");
#endif
  return std::nullopt;
}

}  // namespace

std::string in_small_letters(std::string_view text) {
  std::string out(trim(text));
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::optional<double> seconds_of(const std::string& unit) { return unit_size(unit, true); }
std::optional<double> degrees_of(const std::string& unit) { return unit_size(unit, false); }

bool is_same_unit(const std::string& a, const std::string& b) { return trim(a) == trim(b) || is_same(a, b); }

bool knows_all_units() {
#ifdef CAMBIUM_HAVE_UDUNITS
  const std::lock_guard guard(lock());
  return table() != nullptr;
#else
  return false;
#endif
}

}  // namespace cambium::io::cf
