#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace cambium::mace {

/// A value of a pickle. Nothing is executed: what a pickle would call becomes an object with its name and arguments.
struct PickleValue {
  enum class Kind { none, boolean, integer, real, text, list, tuple, dict, global, object, storage };
  Kind kind = Kind::none;
  std::int64_t integer = 0;  ///< of booleans, too
  double real = 0.0;
  std::string text;                 ///< text, bytes; of a global and an object "module.name"
  std::vector<PickleValue*> items;  ///< elements; of a dict key, value, key, ...; of an object its arguments;
                                    ///< of a storage the components of the persistent id
  PickleValue* state = nullptr;     ///< of an object, what it was built from; or null

  bool is(Kind k) const { return kind == k; }
  /// Value of a string key in a dict; null if absent.
  const PickleValue* find(std::string_view key) const;
};

/// Reads protocols 2 to 4 of Python's pickle format into values.
class Pickle {
 public:
  /// `source` names file and member in errors. InputError for an unknown operation, or a truncated pickle.
  Pickle(std::string_view bytes, const std::string& source);
  const PickleValue& root() const { return *root_; }

 private:
  std::deque<PickleValue> values_;
  const PickleValue* root_ = nullptr;
};

}  // namespace cambium::mace
