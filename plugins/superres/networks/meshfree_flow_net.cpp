#include "plugins/superres/networks/meshfree_flow_net.hpp"

#include <cmath>

#include "plugins/superres/samples/window.hpp"

namespace cambium::superres {

using train::TorchBatch;

void MeshfreeFlowNet::Params::describe(deck::Describe<Params>& d) {
  d("base_channels", &Params::features, "channels of the encoder's first block; they double with every level")
      .formerly("features")
      .at_least(1)
      .def(16);
  d("max_channels", &Params::most_features, "maximum number of channels, at which the doubling ends")
      .formerly("most_features")
      .at_least(1)
      .def(256);
  d("levels", &Params::levels, "halvings of the grid in the encoder; 0: log2 of its largest extent")
      .range(0, 12)
      .def(0);
  d("latent_dim", &Params::latent, "dimension of the latent vectors").formerly("latent").at_least(1).def(32);
  d("decoder", &Params::decoder, "widths of the decoder's hidden layers").def({512, 256, 128, 64, 32});
  d("activation", &Params::activation,
    "activation function of the decoder; smooth, since equations need second derivatives")
      .options({{"softplus", Activation::softplus}, {"tanh", Activation::tanh}, {"swish", Activation::swish}})
      .def(Activation::softplus);
  d("blend", &Params::blend,
    "blending of the decodings of a cell's corners: continuous with none, two or three derivatives; spline: of latent "
    "vectors, by cubic B-splines, and one decoding")
      .options({{"trilinear", Blend::trilinear}, {"c2", Blend::c2}, {"c3", Blend::c3}, {"spline", Blend::spline}})
      .def(Blend::c2);
  d("interpolate", &Params::interpolate,
    "residual learning: the decoder's output is added to a smooth interpolation of the coarse samples")
      .def(true);
  d("divergence_free", &Params::divergence_free, "decode a stream function instead of u and w").def(false);
  d("plates", &Params::plates, "boundary values: fields whose values on two plates z = const are satisfied exactly");
  d("equations", &Params::equations, "equations in p, b, u, w, constants and the derivatives dt, dx, dz, dxx, dxz, dzz")
      .def({});
  d("constants", &Params::constants, "named constants of the equations").def({});
  d("gamma", &Params::gamma, "weight of the equation residual relative to the error of the scaled fields")
      .non_negative()
      .def(0.0125);
  d("ramp", &Params::ramp, "steps in which gamma rises from 0").at_least(0).def(0);
  d("loss", &Params::loss, "loss function of errors and residuals")
      .options({{"l1", Loss::l1}, {"l2", Loss::l2}})
      .def(Loss::l1);
  d("precision", &Params::precision, "floating-point precision of weights and arithmetic")
      .options({{"float32", Precision::float32}, {"float64", Precision::float64}})
      .def(Precision::float32);
  d("factor_ranks", &Params::ranks,
    "factor ranks of the low-rank factorisations of the four convolutions of each encoder block, in order, then of the "
    "decoder's layers; 0 for a full one. A stage compress determines them")
      .formerly("ranks")
      .def({});
  d.check([](const Params& p) -> std::string {
    for (auto width : p.decoder)
      if (width < 1) return "'decoder': a layer has at least one channel";
    if (p.plates && p.divergence_free)
      return "'plates' fixes values of u and w, 'divergence_free' decodes a stream function: leave one out";
    if (p.decoder.empty()) return "'decoder': name at least one hidden layer";
    if (p.divergence_free && p.blend == Blend::c2)
      return "'divergence_free' differentiates once more: choose blend: c3";
    return train::ranks_problem(p.ranks, {});
  });
}

static std::vector<MultiIndex> wanted(const std::vector<Equation>& equations) {
  std::vector<MultiIndex> out;
  for (const auto& equation : equations)
    for (const auto& d : equation.derivatives()) out.push_back(d.order);
  return out;
}

static std::vector<Equation> parsed(const MeshfreeFlowNet::Params& params) {
  std::vector<Equation> out;
  for (const auto& text : params.equations)
    out.push_back(parse_equation(text, {flow_fields, params.constants}, static_cast<int>(out.size()) + 1));
  return out;
}

MeshfreeFlowNet::Laws::Laws(std::vector<Equation> of) : equations(std::move(of)), basis(wanted(equations)) {}

MeshfreeFlowNet::MeshfreeFlowNet(const Params& params, Context&)
    : FlowNetwork(params.precision, params.loss), params_(params), own_(parsed(params)), none_({}) {
  shape_.latent = static_cast<int>(params.latent);
  shape_.widths.assign(params.decoder.begin(), params.decoder.end());
  shape_.outputs = params.divergence_free ? 3 : 4;
  shape_.carries = params.interpolate && params.blend == Blend::spline && !params.plates;
  shape_.activation = params.activation;
}

std::vector<train::TermInfo> MeshfreeFlowNet::terms() const {
  std::vector<train::TermInfo> out{{"data", "", train::TermInfo::Report::mean}};
  if (constrained()) out.push_back({"residual", "", train::TermInfo::Report::mean});
  return out;
}

std::vector<double> MeshfreeFlowNet::term_weights(std::int64_t step, double) const {
  if (!constrained()) return {1.0};
  const double share =
      params_.ramp > 0 ? std::min(1.0, static_cast<double>(step) / static_cast<double>(params_.ramp)) : 1.0;
  return {1.0, params_.gamma * share};
}

std::vector<train::TermInfo> MeshfreeFlowNet::metrics() const {
  std::vector<train::TermInfo> out{{"error", "", train::TermInfo::Report::mean},
                                   {"scaled_rms_error", "", train::TermInfo::Report::root_mean}};
  if (!own_.equations.empty()) out.push_back({"residual", "", train::TermInfo::Report::root_mean});
  return out;
}

/// u = d psi/dz and w = -d psi/dx require derivatives of one order more.
JetBasis MeshfreeFlowNet::decoder_basis(const JetBasis& fields) const {
  if (!params_.divergence_free) return fields;
  std::vector<MultiIndex> all;
  for (int s = 0; s < fields.size(); ++s) {
    const auto& a = fields[s];
    all.push_back({a[0], a[1] + 1, a[2]});
    all.push_back({a[0], a[1], a[2] + 1});
  }
  return JetBasis(all);
}

std::vector<std::vector<double>> MeshfreeFlowNet::scaled_samples(const LatentCells& cells,
                                                                 const torch::Tensor& coarse) const {
  const auto numbers = coarse.to(torch::kFloat64).reshape({coarse.size(0), -1}).contiguous();
  std::vector<std::vector<double>> out;
  for (int f = 0; f < 4; ++f) {
    const double* first = numbers.data_ptr<double>() + f * cells.size();
    out.emplace_back(first, first + cells.size());
  }
  if (!params_.divergence_free) return out;
  for (auto& x : out[2]) x += scaling_.mean[2] / scaling_.deviation[2];  // both in units of the deviation of u
  for (auto& x : out[3]) x = (x * scaling_.deviation[3] + scaling_.mean[3]) / scaling_.deviation[2];
  return out;
}

std::vector<Taylor> MeshfreeFlowNet::expansions(const LatentCells& cells, const torch::Tensor& coarse) const {
  const auto samples = scaled_samples(cells, coarse);
  std::vector<Taylor> out{taylor_of(cells, samples[0]), taylor_of(cells, samples[1])};
  if (params_.divergence_free) {
    out.push_back(stream_function_of(cells, samples[2], samples[3]));
  } else {
    out.push_back(taylor_of(cells, samples[2]));
    out.push_back(taylor_of(cells, samples[3]));
  }
  return out;
}

/// Decoder outputs at the nodes that reproduce the coarse samples.
std::vector<std::vector<double>> MeshfreeFlowNet::node_values(const LatentCells& cells,
                                                              const torch::Tensor& coarse) const {
  auto out = scaled_samples(cells, coarse);
  if (!params_.divergence_free) return out;
  const auto psi = stream_function_of(cells, out[2], out[3]);
  for (std::size_t n = 0; n < out[2].size(); ++n) out[2][n] = psi(static_cast<std::int64_t>(n), 0);
  out.pop_back();
  return out;
}

/// Spline coefficients of the decoder's outputs through the coarse samples: (nodes of all samples, outputs).
torch::Tensor MeshfreeFlowNet::carried(const TorchBatch& batch, const torch::Tensor& samples) const {
  std::vector<torch::Tensor> out;
  for (std::int64_t b = 0; b < batch.size(); ++b) {
    const auto grid = cells(batch, b);
    const auto axes = splines_of(grid);
    for (auto& output : node_values(grid, samples[b]))
      out.push_back(torch::tensor(spline_coefficients(axes, std::move(output)), torch::kFloat64).to(real()));
  }
  const auto rows = out.front().size(0);
  return torch::stack(out)
      .reshape({batch.size(), shape_.outputs, rows})
      .permute({0, 2, 1})
      .reshape({-1, shape_.outputs});
}

/// A field at the nodes that is linear in z between the values of the two plates.
static std::vector<double> between(const LatentCells& cells, const Plates& plates, const std::array<double, 2>& ends) {
  std::vector<double> out;
  for (std::int64_t n = 0; n < cells.size(); ++n) {
    const double s = (cells.axis[2][n % cells.nodes(2)] - plates.z[0]) / (plates.z[1] - plates.z[0]);
    out.push_back(ends[0] + s * (ends[1] - ends[0]));
  }
  return out;
}

MeshfreeFlowNet::Asked MeshfreeFlowNet::asked(const TorchBatch& batch) {
  Asked out{batch, coarse(batch), {}, batch.stored("points").to(torch::kFloat64), decoder_weights_};
  out.latents = encoder_->forward(out.samples, [this](int block) { enter(block); })
                    .permute({0, 2, 3, 4, 1})
                    .reshape({-1, params_.latent})
                    .to(real());
  enter(static_cast<int>(std::ssize(encoder_->blocks())));
  if (shape_.carries) out.latents = torch::cat({carried(batch, out.samples), out.latents}, 1);
  return out;
}

/// Jets of the decoder's outputs: (streams of decoder_basis(fields), points of all samples, outputs).
template <class T>
torch::Tensor MeshfreeFlowNet::decoded(const Asked& asked, const JetBasis& fields, std::optional<Decode<T>>& decode) {
  if (!decode) decode.emplace(Decoder<T>(shape_, decoder_basis(fields)));
  const JetBasis& basis = decode->decoder().basis();
  const auto& [batch, samples, latents, points, weights] = asked;
  std::vector<DecoderQuery<T>> parts;
  std::vector<torch::Tensor> plain;
  for (std::int64_t b = 0; b < batch.size(); ++b) {
    const auto grid = cells(batch, b);
    const auto places = points[b].contiguous();
    const auto first = b * grid.size();
    parts.push_back(locate<T>(grid, places.data_ptr<double>(), places.size(0), params_.blend, basis, first));
    if (!params_.interpolate || shape_.carries || params_.plates) continue;
    plain.push_back(
        torch::empty({basis.size(), parts.back().rows(), shape_.outputs}, latents.options().requires_grad(false)));
    expand(expansions(grid, samples[b]), parts.back(), first, basis, plain.back().template data_ptr<T>());
  }
  auto query = std::make_shared<const DecoderQuery<T>>(joined(parts, basis.size()));
  const auto jets =
      (*decode)(std::move(query), latents, weights, plain.empty() ? torch::Tensor() : torch::cat(plain, 1));
  return params_.plates ? kept_on_plates(jets, asked, basis) : jets;
}

/// Decoder output multiplied by a function that vanishes on the plates, plus the interpolation through samples and
/// plates.
torch::Tensor MeshfreeFlowNet::kept_on_plates(const torch::Tensor& jets, const Asked& asked,
                                              const JetBasis& basis) const {
  const auto& [batch, samples, latents, points, weights] = asked;
  const std::int64_t count = points.size(1), streams = basis.size();
  torch::Tensor plain = torch::zeros({streams, batch.size(), count, 4}, torch::kFloat64),
                shrink = torch::zeros({4, batch.size(), count}, torch::kFloat64);
  for (std::int64_t b = 0; b < batch.size(); ++b) {
    const auto places = points[b].contiguous();
    const double* at = places.data_ptr<double>();
    auto to = shrink.accessor<double, 3>();
    for (std::int64_t n = 0; n < count; ++n) {
      const auto factor = params_.plates->vanishing(at[3 * n + 2]);
      for (int k = 0; k < 4; ++k) to[k][b][n] = factor[k];
    }
    const auto grid = cells(batch, b);
    const auto fields = scaled_samples(grid, samples[b]);
    for (int f = 0; f < 4; ++f) {
      const auto lower = params_.plates->lower.find(flow_fields[f]);
      std::array<double, 2> ends{};
      if (lower != params_.plates->lower.end())
        ends = {(lower->second - scaling_.mean[f]) / scaling_.deviation[f],
                (params_.plates->upper.at(flow_fields[f]) - scaling_.mean[f]) / scaling_.deviation[f]};
      const bool fixed = lower != params_.plates->lower.end();
      if (!fixed && !params_.interpolate) continue;
      auto values = fields[f];
      if (!params_.interpolate) values = between(grid, *params_.plates, ends);
      const auto out = spline_jets(grid, values, *params_.plates, fixed ? &ends : nullptr, at, count, basis);
      plain.select(3, f).select(1, b).copy_(torch::tensor(out, torch::kFloat64).reshape({streams, count}));
    }
  }
  plain = plain.reshape({streams, -1, 4}).to(real());
  shrink = shrink.reshape({4, -1, 1}).to(real());
  torch::Tensor fixed = torch::zeros({4}, torch::kFloat64);
  for (int f = 0; f < 4; ++f) fixed[f] = params_.plates->lower.contains(flow_fields[f]) ? 1.0 : 0.0;
  fixed = fixed.to(real());
  std::vector<torch::Tensor> out;
  for (int s = 0; s < basis.size(); ++s) {
    torch::Tensor sum;
    double binomial = 1.0;
    for (int k = 0; k <= basis[s][2]; ++k) {
      const auto part = binomial * shrink[k] * jets[basis.find({basis[s][0], basis[s][1], basis[s][2] - k})];
      sum = sum.defined() ? sum + part : part;
      binomial *= static_cast<double>(basis[s][2] - k) / (k + 1);
    }
    out.push_back(fixed * sum + (1 - fixed) * jets[s] + plain[s]);
  }
  return torch::stack(out);
}

torch::Tensor MeshfreeFlowNet::physical(const torch::Tensor& jets, const JetBasis& fields) const {
  std::vector<torch::Tensor> out;
  const JetBasis from = decoder_basis(fields);
  for (int s = 0; s < fields.size(); ++s) {
    torch::Tensor u, w;
    if (params_.divergence_free) {
      const auto& a = fields[s];
      u = jets[from.find({a[0], a[1], a[2] + 1})].select(1, 2) * scaling_.deviation[2];
      w = jets[from.find({a[0], a[1] + 1, a[2]})].select(1, 2) * -scaling_.deviation[2];
    } else {
      u = jets[s].select(1, 2) * scaling_.deviation[2] + (s == 0 ? scaling_.mean[2] : 0.0);
      w = jets[s].select(1, 3) * scaling_.deviation[3] + (s == 0 ? scaling_.mean[3] : 0.0);
    }
    const auto& same = jets[from.find(fields[s])];
    out.push_back(torch::stack({same.select(1, 0) * scaling_.deviation[0] + (s == 0 ? scaling_.mean[0] : 0.0),
                                same.select(1, 1) * scaling_.deviation[1] + (s == 0 ? scaling_.mean[1] : 0.0), u, w},
                               1));
  }
  return torch::stack(out);
}

torch::Tensor MeshfreeFlowNet::scaled(const torch::Tensor& physical_values) const {
  const auto options = torch::TensorOptions().dtype(real());
  return (physical_values - torch::tensor(scaling_.mean, options)) / torch::tensor(scaling_.deviation, options);
}

torch::Tensor MeshfreeFlowNet::jets_of(const Asked& ask, Laws& laws) {
  const bool single = real() == torch::kFloat32;
  return physical(single ? decoded<float>(ask, laws.basis, laws.single) : decoded<double>(ask, laws.basis, laws.full),
                  laws.basis);
}

torch::Tensor MeshfreeFlowNet::jets(const TorchBatch& batch) { return jets_of(asked(batch), own_); }

void MeshfreeFlowNet::refine(const Refinement* how, const std::vector<Equation>& equations) {
  refinement_ = how;
  wanted_.reset();
  if (how) wanted_.emplace(equations);
}

torch::Tensor MeshfreeFlowNet::values(const TorchBatch& batch) {
  const auto ask = asked(batch);
  return scaled(jets_of(refinement_ ? refined(ask) : ask, none_)[0]);
}

/// (points)
torch::Tensor MeshfreeFlowNet::residual(const Equation& equation, const torch::Tensor& jets, const JetBasis& basis) {
  torch::Tensor sum = torch::zeros({jets.size(1)}, jets.options().requires_grad(false));
  for (const auto& term : equation.terms) {
    torch::Tensor product;
    for (const auto& factor : term.factors) {
      const auto value = jets[basis.find(factor.order)].select(1, factor.field);
      product = product.defined() ? product * value : value * term.coefficient;
    }
    sum = product.defined() ? sum + product : sum + term.coefficient;
  }
  return sum;
}

/// Mean over points and equations.
torch::Tensor MeshfreeFlowNet::equations_loss(const torch::Tensor& jets, const Laws& laws, Loss loss) {
  torch::Tensor sum;
  for (const auto& equation : laws.equations) {
    const auto r = residual(equation, jets, laws.basis);
    const auto part = (loss == Loss::l1 ? r.abs() : r.square()).mean();
    sum = sum.defined() ? sum + part : part;
  }
  return sum / static_cast<double>(laws.equations.size());
}

std::vector<train::TorchNetwork::Term> MeshfreeFlowNet::loss(const TorchBatch& batch) {
  const auto all = jets_of(asked(batch), constrained() ? own_ : none_);
  std::vector<Term> out{data_term(scaled(all[0]), batch)};
  if (!constrained()) return out;
  const auto n = static_cast<double>(batch.size());
  out.push_back({equations_loss(all, own_, loss_of()) * n, n});
  return out;
}

std::vector<train::TorchNetwork::Term> MeshfreeFlowNet::measure(const TorchBatch& batch) {
  const auto all = jets_of(asked(batch), own_);
  const auto y = scaled(all[0]);
  std::vector<Term> out{data_term(y, batch), square_term(y, batch)};
  std::vector<Term> terms{out.front()};
  const auto n = static_cast<double>(batch.size());
  if (constrained()) terms.push_back({equations_loss(all, own_, loss_of()) * n, n});
  keep_loss(terms);
  if (own_.equations.empty()) return out;
  Term squares{torch::zeros({1}, torch::kFloat64), 0.0};
  for (const auto& equation : own_.equations) {
    const auto r = residual(equation, all, own_.basis).to(torch::kFloat64);
    squares.sum += r.square().sum();
    squares.count += static_cast<double>(r.numel());
  }
  out.push_back(squares);
  return out;
}

}  // namespace cambium::superres
