#include "bench/pretrain/timed_loss.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "plugins/pretrain/archive/streams.hpp"
#include "plugins/pretrain/contrastive/contrastive_loss.hpp"
#include "plugins/pretrain/search/float_rows.hpp"

namespace cambium::pretrain {

using Json = nlohmann::json;

namespace {

constexpr double temperature = 0.07;

/// Unit rows; those of both views of a sample are alike.
std::vector<float> features(const LossSettings& s, int view) {
  FloatRows rows(s.samples, s.width);
  for (std::int64_t k = 0; k < s.samples; ++k) {
    for (std::int64_t c = 0; c < s.width; ++c) {
      const Random4 four(9, made_up_stream, static_cast<std::uint64_t>(k), static_cast<std::uint64_t>(c));
      rows.row(k)[c] = static_cast<float>(four.normal(2) + 0.7 * four.normal(view));
    }
    rows.make_unit(k);
  }
  std::vector<float> out;
  for (std::int64_t k = 0; k < s.samples; ++k) out.insert(out.end(), rows.row(k), rows.row(k) + s.width);
  return out;
}

/// Projects the derivatives to one value: a weighted sum, with the same weights as the reference implementation.
double projection(const std::vector<float>& values) {
  double out = 0.0;
  for (std::size_t k = 0; k < values.size(); ++k)
    out += static_cast<double>(values[k]) * (static_cast<double>(k * 31 % 17) - 8.0) / 8.0;
  return out;
}

}  // namespace

std::string time_loss(const LossSettings& s, Peers& peers, Json& out) {
  const auto first = features(s, 0), second = features(s, 1);
  std::vector<std::int64_t> ids(s.samples);
  std::iota(ids.begin(), ids.end(), std::int64_t{0});
  const Comm self(MPI_COMM_SELF);
  std::string wrong;
  if (peers.has("torch"))
    peers.ask(fmt::format("features {} {} {} {}", peers.file<float>("first", first),
                          peers.file<float>("second", second), s.samples, s.width));
  for (const char* scheme : {"v3", "infonce"}) {
    train::ContrastiveKeys keys;
    keys.scheme = scheme == std::string("v3") ? train::ContrastiveScheme::v3 : train::ContrastiveScheme::infonce;
    const auto compute = [&](train::ContrastiveLoss& loss) {
      return loss.compute(train::TwoViews<float>{first, second, s.width, ids}, temperature);
    };
    train::ContrastiveLoss loss(keys, s.samples, self);
    const auto result = compute(loss);
    const double value = result.objective / static_cast<double>(s.samples);
    const double derivatives =
        (projection(result.first) + 2.0 * projection(result.second)) / static_cast<double>(s.samples);
    const std::string mine = fmt::format("{}_ms", scheme), theirs = fmt::format("pytorch_{}_ms", scheme);
    for (int turn = 0; turn < s.turns; ++turn) {
      const double ms = 1e3 / s.calls * processor_seconds([&] {
                          for (int k = 0; k < s.calls; ++k) compute(loss);
                        });
      out[mine] = turn == 0 ? ms : std::min(ms, out[mine].get<double>());
      if (!peers.has("torch")) continue;
      const Json peer = peers.ask(fmt::format("loss {} {} {}", scheme, temperature, s.calls));
      if (peer.is_null()) return fmt::format("{}: no answer of PyTorch", scheme);
      const auto time = peer["ms"].get<double>();
      out[theirs] = turn == 0 ? time : std::min(time, out[theirs].get<double>());
      const double apart = std::max(std::abs(peer["value"].get<double>() / value - 1.0),
                                    std::abs(peer["derivatives"].get<double>() / derivatives - 1.0));
      out[fmt::format("{}_error", scheme)] = apart;
      if (!(apart < 1e-4))
        wrong = fmt::format("{}: value or derivatives differ from PyTorch's by {:.1e}", scheme, apart);
    }
    if (out.contains(theirs))
      out[fmt::format("{}_ratio", scheme)] = out[theirs].get<double>() / out[mine].get<double>();
  }
  return wrong;
}

}  // namespace cambium::pretrain
