#include "plugins/kinetic/physics/closure.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "core/base/constants.hpp"
#include "core/base/key_error.hpp"
#include "core/deck/about_key.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/train/weights/artifact.hpp"
#include "plugins/kinetic/networks/heat_flux_kernel.hpp"

namespace cambium::kinetic {

void ClosureParams::describe(deck::Describe<ClosureParams>& d) {
  d("type", &ClosureParams::type, "no heat flux, that of Hammett and Perkins (1990), or a trained heat_flux_kernel")
      .options({{"none", Type::none}, {"hammett_perkins", Type::hammett_perkins}, {"model", Type::model}})
      .def(Type::none);
  d("model", &ClosureParams::model, "model file that a train stage wrote, for type model").def("");
  d.check([](const ClosureParams& p) -> std::string {
    if (p.type == Type::model && p.model.empty())
      return "closure of type model needs 'model', the file of the trained network";
    if (p.type != Type::model && !p.model.empty()) return "closure: 'model' belongs to 'type: model'";
    return {};
  });
}

/// a and b of a trained kernel, [wave][2].
static std::vector<double> infer(const std::string& path, const std::vector<double>& wavenumbers, Context& context,
                                 bool& nonlocal) {
  auto model = deck::about_key("moment_fluid.closure.file", "closure.model",
                               [&] { return train::load_artifact(path, context); });
  if (!dynamic_cast<HeatFluxKernel*>(model.network.get()))
    throw KeyError(
        "moment_fluid.closure.network", "closure.model",
        fmt::format("closure: '{}' holds a network of type '{}', not heat_flux_kernel", path, model.info.type));
  nonlocal = model.info.config.find("pointwise") == std::string::npos;
  std::vector<train::SamplePtr> samples;
  for (const double& k : wavenumbers) {
    auto sample = std::make_shared<train::Sample>();
    TensorRef field = io::tensor_of(&k, {1});
    sample->fields.emplace("wavenumber", field);
    samples.push_back(std::move(sample));
  }
  std::vector<double> out(2 * wavenumbers.size());
  const TensorRef result = io::tensor_of(out.data(), {static_cast<std::int64_t>(wavenumbers.size()), 2});
  model.network->infer(samples, model.weights.views(), std::vector<TensorRef>{result});
  return out;
}

ClosureTable tabulate(const ClosureParams& params, const std::vector<double>& wavenumbers, Context& context) {
  const std::size_t n = wavenumbers.size();
  ClosureTable out{std::vector<double>(n, 0.0), std::vector<double>(n, 0.0), std::vector<double>(n, 0.0)};
  if (params.type == ClosureParams::Type::none) return out;
  bool nonlocal = true;
  std::vector<double> kernel;
  if (params.type == ClosureParams::Type::model)
    kernel = infer(params.model, wavenumbers, context, nonlocal);
  else
    for (std::size_t k = 0; k < n; ++k) kernel.insert(kernel.end(), {-std::sqrt(8.0 / constants::pi), 0.0});
  for (std::size_t k = 1; k < n; ++k) {
    (nonlocal ? out.imaginary : out.real)[k] = kernel[2 * k];
    out.velocity[k] = kernel[2 * k + 1];
  }
  return out;
}

}  // namespace cambium::kinetic
