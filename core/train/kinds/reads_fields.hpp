#pragma once
#include <string>
#include <vector>

namespace cambium::train {

/// A network that answers samples with fewer fields than it was trained on, since labels are no inputs; an interface
/// beside Network. Networks without it need all fields of their training but the labels that they spare
/// (NetworkTraits::spared_labels).
class ReadsFields {
 public:
  virtual ~ReadsFields() = default;
  /// Names of the fields that infer() reads, known after restore().
  virtual std::vector<std::string> fields_to_infer() const = 0;
  /// The one of them whose first axis is as long as the axis of outputs() that is -1; empty where none is.
  virtual std::string rows_field() const { return {}; }
};

}  // namespace cambium::train
