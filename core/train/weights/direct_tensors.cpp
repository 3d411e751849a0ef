#include "core/train/weights/direct_tensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/key_error.hpp"

namespace cambium::train {

void DirectParams::describe(deck::Describe<DirectParams>& d) {
  d("weights", &DirectParams::weights,
    "storage format of the matrices of linear layers: int8, one byte each; ternary, -s, 0 or s, in two bits")
      .options({{"int8", Weights::int8}, {"ternary", Weights::ternary}});
  d("rounding", &DirectParams::rounding,
    "rounding after each step: stochastic preserves small updates on average; nearest loses them")
      .options({{"stochastic", Rounding::stochastic}, {"nearest", Rounding::nearest}})
      .def(Rounding::stochastic);
  d("range", &DirectParams::range,
    "largest int8 weight, as a multiple of the mean magnitude of the initial weights of a matrix")
      .greater_than(1.0)
      .def(8.0);
}

static std::span<float> floats(Block& block) {
  return {reinterpret_cast<float*>(block.data()), static_cast<std::size_t>(block.bytes() / 4)};
}

void require_direct(const Network& network, const Optimizer& optimizer) {
  const auto parameters = network.parameters();
  const bool linear = std::any_of(parameters.begin(), parameters.end(), [](const auto& p) { return p.linear; });
  if (!linear || network.modules().empty())
    throw KeyError(
        "train.direct.layers", "quantized_training",
        "quantized_training stores the matrices of linear layers at low bit width, but this network names none "
        "of its layers; take mlp, transformer or deep_potential, or remove quantized_training");
  if (network.dtype() != DType::f32)
    throw KeyError("train.direct.precision", "quantized_training",
                   "quantized_training rounds weights of float32, but the model trains in float64; set the model's "
                   "precision to float32");
  const auto states = optimizer.states(DType::f32);
  const bool splits = std::any_of(states.begin(), states.end(), [](const auto& s) { return s.name == "low_bits"; });
  if (splits || !optimizer.elementwise() || optimizer.served_state())
    throw KeyError("train.direct.optimizer", "quantized_training",
                   "quantized_training changes weights tensor by tensor and has no second copy of them; take sgd, adam "
                   "or adamw instead of split forms, lars, lamb and schedule_free_adamw");
}

DirectTensors::DirectTensors(const DirectParams& params, const Network& network, const Optimizer& optimizer,
                             const FlatLayout& layout, std::uint64_t seed)
    : params_(params), layout_(layout), seed_(seed) {
  require_direct(network, optimizer);
  const auto modules = network.modules();
  tensors_.resize(layout.tensors().size());
  for (std::size_t k = 0; k < tensors_.size(); ++k) {
    const auto& info = layout.tensors()[k].info;
    Tensor& t = tensors_[k];
    t.linear = info.linear;
    t.module =
        static_cast<int>(std::upper_bound(modules.begin(), modules.end(), static_cast<int>(k)) - modules.begin()) - 1;
    t.grid.limit = params.weights == DirectParams::Weights::ternary ? 1 : 127;
    t.kept = Block(memory_, Held::weights, t.linear ? t.grid.bytes(elements(k)) : 4 * elements(k));
    t.layout =
        std::make_unique<FlatLayout>(layout, layout.tensors()[k].offset, layout.tensors()[k].offset + elements(k));
    if (t.linear) linear_numbers_ += elements(k);
    TensorRef view;
    view.dtype = DType::f32;
    for (auto extent : info.shape) view.shape[view.rank++] = extent;
    for (std::int64_t stride = 1, axis = view.rank - 1; axis >= 0; stride *= view.shape[axis--])
      view.stride[axis] = stride;
    view.data = t.linear ? nullptr : t.kept.data();
    views_.push_back(view);
  }
}

void DirectTensors::start(const FlatBuffer& whole) {
  for (std::size_t k = 0; k < tensors_.size(); ++k) {
    Tensor& t = tensors_[k];
    double sum = 0.0;
    for (float w : whole.values<float>(k)) sum += std::abs(static_cast<double>(w));
    const double mean = sum / static_cast<double>(elements(k));
    t.grid.step = static_cast<float>(t.grid.ternary() ? mean : params_.range * mean / t.grid.limit);
  }
  put(whole, &Tensor::kept);
}

std::vector<double> DirectTensors::steps() const {
  std::vector<double> out;
  for (const auto& t : tensors_)
    if (t.linear) out.push_back(static_cast<double>(t.grid.step));
  return out;
}

std::vector<Grid> DirectTensors::grids() const {
  std::vector<Grid> out;
  for (const auto& t : tensors_)
    if (t.linear) out.push_back(t.grid);
  return out;
}

void DirectTensors::take(const FlatBuffer& whole, std::span<const double> steps) {
  std::size_t next = 0;
  for (auto& t : tensors_)
    if (t.linear) t.grid.step = static_cast<float>(steps[next++]);
  put(whole, &Tensor::kept);
}

/// Initial weights are rounded to nearest, which does not change those already on the grid.
void DirectTensors::put(const FlatBuffer& whole, Block Tensor::*which) {
  for (std::size_t k = 0; k < tensors_.size(); ++k) {
    Tensor& t = tensors_[k];
    if (!(t.*which)) t.*which = Block(memory_, Held::copies, t.kept.bytes());
    const auto values = whole.values<float>(k);
    if (t.linear)
      round_onto_grid(t.grid, values, address(k, 0), true, bytes(t.*which));
    else
      std::copy(values.begin(), values.end(), floats(t.*which).begin());
  }
}

void DirectTensors::fill(FlatBuffer& whole, const Block Tensor::*which) const {
  for (std::size_t k = 0; k < tensors_.size(); ++k) {
    const Block& from = tensors_[k].*which;
    const auto to = whole.values<float>(k);
    if (tensors_[k].linear)
      unpack_grid(tensors_[k].grid, {from.data(), static_cast<std::size_t>(from.bytes())}, to);
    else
      std::copy_n(reinterpret_cast<const float*>(from.data()), to.size(), to.begin());
  }
}

void DirectTensors::copy_to(FlatBuffer& whole) const { fill(whole, &Tensor::kept); }
void DirectTensors::copy_best_to(FlatBuffer& whole) const { fill(whole, &Tensor::best); }
void DirectTensors::take_best(const FlatBuffer& whole) { put(whole, &Tensor::best); }

void DirectTensors::keep_best() {
  for (auto& t : tensors_) {
    if (!t.best) t.best = Block(memory_, Held::copies, t.kept.bytes());
    std::copy_n(t.kept.data(), t.kept.bytes(), t.best.data());
  }
}

void DirectTensors::open(int module) {
  for (std::size_t k = 0; k < tensors_.size(); ++k) {
    Tensor& t = tensors_[k];
    if (!t.linear || t.module != module) continue;
    t.window = Block(memory_, Held::windows, 4 * elements(k));
    unpack_grid(t.grid, bytes(t.kept), floats(t.window));
    views_[k].data = t.window.data();
  }
}

void DirectTensors::close(int module) {
  for (std::size_t k = 0; k < tensors_.size(); ++k) {
    if (!tensors_[k].linear || tensors_[k].module != module) continue;
    tensors_[k].window = {};
    views_[k].data = nullptr;
  }
}

double DirectTensors::step(Optimizer& optimizer, FlatBuffer& gradients, std::span<FlatBuffer> states, double rate,
                           std::int64_t step) {
  changed_ = 0;
  for (std::size_t k = 0; k < tensors_.size(); ++k) {
    Tensor& t = tensors_[k];
    const auto part = [&](FlatBuffer& of) {
      return FlatBuffer::on(*t.layout, of.dtype(),
                            reinterpret_cast<std::byte*>(of.values<std::uint8_t>().data()) +
                                layout_.tensors()[k].offset * size_of(of.dtype()));
    };
    Block window;
    if (t.linear) {
      window = Block(memory_, Held::windows, 4 * elements(k));
      unpack_grid(t.grid, bytes(t.kept), floats(window));
    }
    auto weights = FlatBuffer::on(*t.layout, DType::f32, t.linear ? window.data() : t.kept.data());
    const auto gradient = part(gradients);
    std::vector<FlatBuffer> own;
    for (auto& state : states) own.push_back(part(state));
    optimizer.step({weights, gradient, own, rate, step});
    if (t.linear)
      changed_ += round_onto_grid(t.grid, floats(window), address(k, step),
                                  params_.rounding == DirectParams::Rounding::nearest, bytes(t.kept));
  }
  return static_cast<double>(changed_) / static_cast<double>(linear_numbers_);
}

std::vector<std::string> DirectTensors::memory_report() const {
  const auto mb = [](std::int64_t n) { return 1e-6 * static_cast<double>(n); };
  const auto others = layout_.parameters() - linear_numbers_;
  const double bits = tensors_.front().grid.ternary() ? 2.0 : 8.0;
  const std::int64_t formula =
      static_cast<std::int64_t>(bits / 8.0 * static_cast<double>(linear_numbers_)) + 4 * others;
  return {fmt::format("weights: {} of {} parameters in {:g} bits, the others in 32: {:.4f} MB by formula, {:.4f} MB "
                      "held; as float32 all would be {:.4f} MB",
                      linear_numbers_, layout_.parameters(), bits, mb(formula), mb(memory_.now(Held::weights)),
                      mb(4 * layout_.parameters())),
          fmt::format("gradients {:.4f} MB, states of the optimizer {:.4f} MB", mb(memory_.now(Held::gradients)),
                      mb(memory_.now(Held::states))),
          fmt::format("in addition, at most: {:.4f} MB of matrices unpacked for a layer or a step, {:.4f} MB in full "
                      "copies (initial weights, validation, best model, checkpoints, export)",
                      mb(memory_.peak(Held::windows)), mb(memory_.peak(Held::copies)))};
}

}  // namespace cambium::train
