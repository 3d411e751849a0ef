#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/parallel/context.hpp"

namespace cambium {

/// An option of a bench, written name=value. Its default also determines its type: integer, number, Boolean (yes, no,
/// true, false), or text.
struct BenchOption {
  using Value = std::variant<std::int64_t, double, bool, std::string>;
  std::string name, meaning;
  Value standard;
  std::vector<std::string> choices = {};  ///< of a text; any where empty
};

/// The value of every option of a bench: as given, else its default.
class BenchOptions {
 public:
  /// Reads `name=value` words. InputError for a word without '=', a name that `known` lacks (with the nearest and all
  /// that there are) and a value of another type or not among the choices; `bench` is named in the message.
  BenchOptions(const std::string& bench, std::span<const BenchOption> known, std::span<const std::string> words = {});

  /// InternalError for an option that the bench does not name, or names with another type.
  int integer(const std::string& name) const { return static_cast<int>(get<std::int64_t>(name)); }
  double number(const std::string& name) const { return get<double>(name); }
  bool yes(const std::string& name) const { return get<bool>(name); }
  const std::string& text(const std::string& name) const { return get<std::string>(name); }

 private:
  template <class T>
  const T& get(const std::string& name) const;

  std::map<std::string, BenchOption::Value> values_;
};

/// A measurement: `cambium bench NAME [--json] [key=value ...]`. Returns one flat object; the key `check` holds a
/// physical result of the timed run compared with its reference.
struct Bench {
  std::string name, doc;
  std::function<nlohmann::json(const BenchOptions& options, Context&)> run;
  std::vector<BenchOption> options = {};
  /// `name=value` arguments for one turn of `bench compare`: seconds long and without reference implementations. Empty:
  /// it takes part only if it is named.
  std::vector<std::string> turn = {};
};

/// A Markdown section: what the bench measures, and a table of its options with default and meaning.
std::string markdown(const Bench& bench);

}  // namespace cambium
