#include "plugins/deepmd/engine/few_bits.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/key_error.hpp"
#include "core/lowp/calibrated.hpp"
#include "core/numerics/gemm.hpp"
#include "plugins/deepmd/data/system.hpp"
#include "plugins/deepmd/engine/evaluate.hpp"

namespace cambium::deepmd {

void FewBits::Calibrate::describe(deck::Describe<Calibrate>& d) {
  d("systems", &Calibrate::systems,
    "folders of deepmd/npy data with configurations like those of the simulation; labels do not matter")
      .example("[\"{run}/label/train\"]");
  d("frames", &Calibrate::frames, "number of calibration frames, evenly spaced").at_least(1).def(32);
}

void FewBits::describe(deck::Describe<FewBits>& d) {
  d("weights", &FewBits::weights,
    "weight quantisation: binary, each row a sum of `bits` rows of signs with a scale each, by least squares; ternary, "
    "-s, 0, s with s the mean magnitude of the matrix")
      .options({{"binary", Weights::binary}, {"ternary", Weights::ternary}})
      .def(Weights::binary);
  d("bits", &FewBits::bits, "number of bits of a binary weight").range(1, 4).def(3);
  d("products", &FewBits::products,
    "product kernel: decoded, quantised weights are expanded and multiplied at full speed and memory; tables, the bits "
    "index tables of partial sums (precision: mixed), faster with 1 bit, and with 2 and 3 bits for single atoms")
      .options({{"decoded", Products::decoded}, {"tables", Products::tables}})
      .def(Products::decoded);
  d("calibrate", &FewBits::calibrate,
    "calibration data: quantised weights are fitted to the inputs of the layers on these configurations, and mean "
    "energies are preserved; default: each matrix is rounded by itself, and energies have a constant offset");
  d.check([](const FewBits& p) -> std::string {
    if (p.products == Products::decoded || p.weights == Weights::ternary || p.bits < 4) return "";
    return "products: tables of 4 bits take longer than full products, for any number of atoms; take bits: 1 to 3, or "
           "products: decoded";
  });
}

namespace {

using Row64 = std::vector<double>;
constexpr int least_inputs = lowp::BinaryCodedMatrix::block_columns,
              least_outputs = lowp::BinaryCodedMatrix::block_rows;

/// Output of a layer for rows of values.
Row64 through(const Layer& layer, const Row64& x) {
  const auto in = static_cast<std::size_t>(layer.in), out = static_cast<std::size_t>(layer.out), rows = x.size() / in;
  Row64 y(rows * out);
  host_gemm<double>(false, false, static_cast<int>(rows), layer.out, layer.in, 1.0, x.data(), layer.in, layer.w.data(),
                    layer.out, 0.0, y.data(), layer.out);
  for (std::size_t k = 0; k < y.size(); ++k) {
    const std::size_t c = k % out;
    const double z = y[k] + (layer.b.empty() ? 0.0 : layer.b[c]);
    y[k] = evaluate(layer.activation, z).value * (layer.idt.empty() ? 1.0 : layer.idt[c]) +
           (layer.copies() ? x[k / out * in + c % in] : 0.0);
  }
  return y;
}

/// Transposes in x out to out x in.
std::vector<float> by_outputs(const Layer& layer) {
  const auto in = static_cast<std::size_t>(layer.in), out = static_cast<std::size_t>(layer.out);
  std::vector<float> w(in * out);
  for (std::size_t i = 0; i < in; ++i)
    for (std::size_t o = 0; o < out; ++o) w[o * in + i] = static_cast<float>(layer.w[i * out + o]);
  return w;
}
void set_by_outputs(const std::vector<float>& w, Layer& layer) {
  const auto in = static_cast<std::size_t>(layer.in), out = static_cast<std::size_t>(layer.out);
  for (std::size_t i = 0; i < in; ++i)
    for (std::size_t o = 0; o < out; ++o) layer.w[i * out + o] = w[o * in + i];
}

bool is_large(const Layer& layer) { return layer.in >= least_inputs && layer.out >= least_outputs; }

/// Mean of each output of x w over the rows of `full`, minus that over the rows of `rounded`.
std::vector<float> difference_of_means(const Layer& layer, const Row64& full, const Row64& rounded) {
  const auto in = static_cast<std::size_t>(layer.in), out = static_cast<std::size_t>(layer.out);
  std::vector<double> sum(out, 0.0);
  for (std::size_t k = 0; k < full.size(); ++k)
    for (std::size_t o = 0; o < out; ++o) sum[o] += (full[k] - rounded[k]) * layer.w[k % in * out + o];
  std::vector<float> shift;
  for (double s : sum)
    shift.push_back(static_cast<float>(s * static_cast<double>(in) / static_cast<double>(full.size())));
  return shift;
}

void add_to_bias(const std::vector<float>& shift, Layer& layer) {
  layer.b.resize(layer.out, 0.0);
  for (std::size_t o = 0; o < shift.size(); ++o) layer.b[o] += static_cast<double>(shift[o]);
}

lowp::BinaryCodedMatrix code_layer(Layer& layer, const FewBits& what, const Row64& full, const Row64& rounded) {
  const bool ternary = what.weights == FewBits::Weights::ternary;
  const auto w = by_outputs(layer);
  lowp::CalibratedMatrix out{
      ternary ? lowp::ternary_coded(w, layer.out, layer.in) : lowp::binary_coded(w, layer.out, layer.in, what.bits),
      {}};
  if (!full.empty()) {
    const std::vector<float> x(full.begin(), full.end()), seen(rounded.begin(), rounded.end());
    out = lowp::calibrated(std::move(out.matrix), ternary, w, lowp::input_moments(x, seen, layer.in));
    add_to_bias(out.shift, layer);
  }
  set_by_outputs(out.matrix.dense(), layer);
  return std::move(out.matrix);
}

/// Inputs of the energy networks of all types in evenly spaced frames, at most some ten thousand atoms evenly spaced.
std::vector<Row64> inputs_of(Engine& engine, const FewBits::Calibrate& params) {
  constexpr std::size_t most_atoms = 8192;
  std::vector<DataSystem> systems;
  std::size_t all = 0;
  for (const auto& folder : params.systems) all += systems.emplace_back(DataSystem::load(folder)).frames();
  if (all == 0)
    throw InputError(
        "quantize.calibrate has no frame; name folders of deepmd/npy data with configurations like those of the "
        "simulation");
  const std::size_t count = std::min(all, static_cast<std::size_t>(params.frames)),
                    each = std::max<std::size_t>(1, most_atoms / count);
  const DeepPotentialModel& model = engine.model();
  std::vector<Row64> out(model.ntypes());
  for (std::size_t k = 0; k < count; ++k) {
    std::size_t at = k * all / count, s = 0;
    while (at >= systems[s].frames()) at -= systems[s++].frames();
    std::vector<Row64> here(out.size());
    engine.watch_inputs(&here);
    const LabelledFrame& frame = systems[s].frame(at);
    evaluate(engine, frame.x, model_types(systems[s], at, model.type_map, model.source), frame.box);
    engine.watch_inputs(nullptr);
    for (std::size_t t = 0; t < out.size(); ++t) {
      if (here[t].empty()) continue;
      const auto n = static_cast<std::size_t>(engine.fitting_network(static_cast<int>(t)).in());
      const std::size_t rows = here[t].size() / n, kept = std::min(rows, each);
      for (std::size_t r = 0; r < kept; ++r) {
        const auto row = here[t].begin() + static_cast<std::ptrdiff_t>(r * rows / kept * n);
        out[t].insert(out[t].end(), row, row + static_cast<std::ptrdiff_t>(n));
      }
    }
  }
  return out;
}

void count(const CodedNetwork& net, const FewBits& what, EnginePrecision precision, FewBitsReport& report) {
  double bits = report.bits * static_cast<double>(report.numbers);
  const std::int64_t width = precision == EnginePrecision::mixed ? 4 : 8;
  for (std::size_t k = 0; k < net.coded.size(); ++k) {
    const auto& m = net.coded[k];
    if (m.rows == 0) continue;
    const std::int64_t full = 2 * width * m.rows * m.columns;  // stored for both directions
    ++report.matrices, report.numbers += m.rows * m.columns, report.bytes_full += full;
    report.bytes += what.products == FewBits::Products::tables ? m.bytes() + lowp::transposed_planes(m).bytes() : full;
    bits += 8.0 * static_cast<double>(m.bytes());
  }
  if (report.numbers > 0) report.bits = bits / static_cast<double>(report.numbers);
}

void require_whole(const DeepPotentialModel& model) {
  for (const Network& net : model.fitting)
    for (const Layer& layer : net.layers)
      if (layer.rank > 0)
        throw KeyError("deep_potential.quantize.factors", "quantize",
                       fmt::format("quantize: the energy networks of {} have factors, which quantised matrices would "
                                   "replace by their products; take the model without factor_ranks, or remove quantize",
                                   model.source));
}

std::string text_of(const FewBitsReport& r, const FewBits& what) {
  const std::string kind = what.weights == FewBits::Weights::ternary
                               ? "ternary weights"
                               : fmt::format("binary weights of {} bit{}", what.bits, what.bits == 1 ? "" : "s");
  const std::string products =
      what.products == FewBits::Products::tables
          ? fmt::format("multiplied by tables, {:.4g} kB instead of {:.4g}{}", 1e-3 * static_cast<double>(r.bytes),
                        1e-3 * static_cast<double>(r.bytes_full),
                        what.weights == FewBits::Weights::binary && what.bits == 1
                            ? ""
                            : ": less memory, but more time unless a rank has single atoms")
          : fmt::format("decoded, {:.4g} kB as in full", 1e-3 * static_cast<double>(r.bytes));
  const std::string fitted =
      what.calibrate ? fmt::format("fitted to {} atoms", r.rows) : "not calibrated: energies are off by a constant";
  return fmt::format("{} energy matrices in {} ({:.3g} bits each with scales; {}; {})", r.matrices, kind, r.bits,
                     products, fitted);
}

}  // namespace

CodedNetwork coded_network(const Network& net, const FewBits& what, const std::vector<double>& inputs) {
  CodedNetwork out{net, std::vector<lowp::BinaryCodedMatrix>(net.layers.size())};
  Row64 full = inputs, rounded = inputs;
  for (std::size_t k = 0; k < net.layers.size(); ++k) {
    Layer& layer = out.meant.layers[k];
    if (k + 1 < net.layers.size() && is_large(layer))
      out.coded[k] = code_layer(layer, what, full, rounded);
    else if (!full.empty())
      add_to_bias(difference_of_means(layer, full, rounded), layer);
    if (full.empty() || k + 1 == net.layers.size()) continue;
    full = through(net.layers[k], full);
    rounded = through(layer, rounded);
  }
  return out;
}

FewBitsReport set_few_bits(Engine& engine, const FewBits& what, EnginePrecision precision) {
  const DeepPotentialModel& model = engine.model();
  require_whole(model);
  if (what.products == FewBits::Products::tables && (precision != EnginePrecision::mixed || !device_is_host))
    throw InputError(
        "quantize.products: tables multiply float32 values on CPUs; set precision: mixed (and run a build for CPUs), "
        "or take products: decoded");
  const auto types = static_cast<std::size_t>(model.ntypes());
  std::vector<Row64> inputs(types);
  FewBitsReport report;
  if (what.calibrate) inputs = inputs_of(engine, *what.calibrate);
  if (model.fitting.size() == 1)  // one network for all types, fitted to the atoms of all
    for (std::size_t t = 1; t < types; ++t) inputs[0].insert(inputs[0].end(), inputs[t].begin(), inputs[t].end());
  CodedNetwork net;
  for (std::size_t t = 0; t < types; ++t) {
    const bool shared = t > 0 && model.fitting.size() == 1;
    if (model.atom_excluded[t] || model.fitting_excluded[t]) continue;
    if (!shared || net.coded.empty()) {
      const Network full = engine.fitting_network(static_cast<int>(t));
      const Row64& rows = inputs[model.fitting.size() == 1 ? 0 : t];
      report.rows += static_cast<std::int64_t>(rows.size()) / full.in();
      net = coded_network(full, what, rows);
    }
    count(net, what, precision, report);
    engine.set_fitting_network(
        static_cast<int>(t), net.meant,
        what.products == FewBits::Products::tables ? net.coded : std::vector<lowp::BinaryCodedMatrix>{});
  }
  if (report.matrices == 0)
    throw InputError(
        fmt::format("quantize found no hidden layer of at least {} inputs and {} outputs in the energy networks of {}; "
                    "remove quantize (it is for larger networks)",
                    least_inputs, least_outputs, model.source));
  report.text = text_of(report, what);
  return report;
}

}  // namespace cambium::deepmd
