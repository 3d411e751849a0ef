#include "plugins/mace/engine/engine.hpp"

#include "plugins/mace/engine/passes.hpp"

namespace cambium::mace {

std::unique_ptr<Engine> make_engine(MaceModel model, Precision precision) {
  if (precision == Precision::float32) return std::make_unique<Passes<float>>(std::move(model));
  return std::make_unique<Passes<double>>(std::move(model));
}

}  // namespace cambium::mace
