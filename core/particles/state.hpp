#pragma once
#include <functional>
#include <string>
#include <vector>

#include "core/base/tensor_ref.hpp"
#include "core/particles/particles.hpp"

namespace cambium {

/// Entity to which the rows of a field belong.
enum class At { particle, cell, node, global };

/// A named array of the state. Infrastructure acts on the declaration: the schedule checks its reads and writes against
/// these names, checkpoints store fields with `restart`, writers find units here.
struct FieldSpec {
  std::string name;  ///< e.g. "velocity"
  At at = At::particle;
  std::string unit;  ///< e.g. "angstrom/ps"; empty for dimensionless
  std::string doc;
  bool restart = false;
  std::function<TensorRef()> tensor;  ///< current owned rows of this rank
};

/// Everything that a simulation advances: particles (none for a grid physics) and named fields.
class State {
 public:
  Particles particles;
  std::int64_t step = 0;
  double time = 0.0;

  void add(FieldSpec field) { fields_.push_back(std::move(field)); }
  const std::vector<FieldSpec>& fields() const { return fields_; }
  const FieldSpec* find(const std::string& name) const {
    for (const auto& f : fields_)
      if (f.name == name) return &f;
    return nullptr;
  }

 private:
  std::vector<FieldSpec> fields_;
};

}  // namespace cambium
