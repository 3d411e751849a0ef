#include "plugins/deepmd/model/network_jet.hpp"

namespace cambium::deepmd {

namespace {

Jet<double> layer_output(const Layer& layer, const std::vector<Jet<double>>& in, std::size_t o) {
  const auto width = static_cast<std::size_t>(layer.out);
  Jet<double> z{layer.b.empty() ? 0.0 : layer.b[o], 0.0, 0.0};
  for (std::size_t i = 0; i < in.size(); ++i) {
    const double w = layer.w[i * width + o];
    z.value += w * in[i].value;
    z.first += w * in[i].first;
    z.second += w * in[i].second;
  }
  const Jet<double> f = evaluate(layer.activation, z.value);
  const double scale = layer.idt.empty() ? 1.0 : layer.idt[o];
  Jet<double> y{scale * f.value, scale * f.first * z.first,
                scale * (f.first * z.second + f.second * z.first * z.first)};
  if (layer.copies()) {
    const Jet<double>& x = in[o % in.size()];
    y.value += x.value;
    y.first += x.first;
    y.second += x.second;
  }
  return y;
}

std::vector<Jet<double>> through(const Network& net, std::vector<Jet<double>> row) {
  for (const Layer& layer : net.layers) {
    std::vector<Jet<double>> next(layer.out);
    for (std::size_t o = 0; o < next.size(); ++o) next[o] = layer_output(layer, row, o);
    row = std::move(next);
  }
  return row;
}

}  // namespace

std::vector<Jet<double>> evaluate_jet(const Network& net, double x) { return through(net, {{x, 1.0, 0.0}}); }

std::vector<double> evaluate(const Network& net, std::vector<double> x) {
  std::vector<Jet<double>> row;
  for (double value : x) row.push_back({value, 0.0, 0.0});
  std::vector<double> out;
  for (const Jet<double>& jet : through(net, row)) out.push_back(jet.value);
  return out;
}

}  // namespace cambium::deepmd
