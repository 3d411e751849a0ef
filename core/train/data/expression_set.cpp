#include "core/train/data/expression_set.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/deck/node.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/parallel/host_threads.hpp"
#include "core/parallel/random.hpp"

namespace cambium::train {

void ExpressionSet::Params::describe(deck::Describe<Params>& d) {
  d("samples", &Params::samples, "number of samples").at_least(1);
  d("box", &Params::box, "range of each variable: {x: [-1, 1]}").example("{x: [-1, 1]}");
  d("target", &Params::target, "formula of each output: {z: sin(3*x)}").example("{z: sin(3*x)}");
  d("noise", &Params::noise, "standard deviation of normal noise on the outputs").non_negative().def(0.0);
  d("seed", &Params::seed, "seed of points and noise").at_least(0).def(1);
  d.check([](const Params& p) -> std::string {
    if (p.box.empty() || p.target.empty()) return "needs a variable in box and a formula in target";
    for (const auto& [name, range] : p.box)
      if (range.size() != 2 || !(range[0] < range[1])) return fmt::format("box.{} must be [low, high]", name);
    return {};
  });
}

ExpressionSet::ExpressionSet(const Params& params, Context&) : params_(params) {
  std::vector<deck::Variable> variables;
  for (const auto& [name, range] : params_.box) variables.push_back({name, ""});
  for (const auto& [name, text] : params_.target) {
    try {
      formulas_.push_back(deck::Expression::parse(text, "", variables));
    } catch (const deck::ExpressionError& error) {
      throw KeyError("expression.target", deck::child_path("target", name),
                     fmt::format("target.{}: {}", name, error.what()), error.column);
    }
  }
}

std::vector<FieldInfo> ExpressionSet::fields() const {
  return {{"input", "", {std::ssize(params_.box)}, DType::f64}, {"target", "", {std::ssize(formulas_)}, DType::f64}};
}

SamplePtr ExpressionSet::make(std::int64_t id) const {
  const auto seed = static_cast<std::uint64_t>(params_.seed), point = static_cast<std::uint64_t>(id);
  auto numbers = std::make_shared<std::vector<double>>();
  std::uint64_t k = 0;
  for (const auto& [name, range] : params_.box)
    numbers->push_back(range[0] + (range[1] - range[0]) * Random4(seed, Stream::made_samples, point, k++).uniform(0));
  const std::size_t inputs = numbers->size();
  const std::vector<double> point_values = *numbers;
  const auto noise = [&] {
    return params_.noise == 0.0 ? 0.0 : params_.noise * Random4(seed, Stream::made_samples, point, k++).normal(0);
  };
  for (const auto& formula : formulas_) numbers->push_back(formula(point_values) + noise());
  auto sample = std::make_shared<Sample>();
  sample->id = id;
  sample->fields["input"] = io::tensor_of(std::span<const double>(numbers->data(), inputs));
  sample->fields["target"] = io::tensor_of(std::span<const double>(numbers->data() + inputs, formulas_.size()));
  sample->bytes = static_cast<std::int64_t>(8 * numbers->size());
  sample->storage = numbers;
  return sample;
}

std::vector<SamplePtr> ExpressionSet::read(std::span<const std::int64_t> ids) {
  constexpr std::int64_t enough = 32;  // samples: some microseconds of formulas and of memory
  std::vector<SamplePtr> out(ids.size());
  in_shares(std::ssize(ids), enough, [&](std::int64_t first, std::int64_t last) {
    for (auto k = static_cast<std::size_t>(first); k < static_cast<std::size_t>(last); ++k) out[k] = make(ids[k]);
  });
  return out;
}

}  // namespace cambium::train
