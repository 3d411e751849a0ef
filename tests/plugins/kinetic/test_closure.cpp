// The fluid of three moments, the network that closes it, and the waves that it learns from.
#include <cmath>
#include <complex>
#include <filesystem>

#include "core/io/hdf5/h5.hpp"
#include "core/train/kinds/buffer.hpp"
#include "kinetic_run.hpp"
#include "plugins/kinetic/networks/heat_flux_kernel.hpp"
#include "plugins/kinetic/physics/moment_fluid.hpp"
#include "plugins/kinetic/writers/heat_flux.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::kinetic;
using train::SamplePtr;

namespace {

GrowthFit::Result damped(const std::string& k, ClosureParams::Type type, double end) {
  MomentFluid::Params p;
  p.parameters = {{"k", k}};
  p.length = "2*pi/k";
  p.density = "1 + 1e-4*cos(k*x)";
  p.closure.type = type;
  p.growth_rate = GrowthParams{8.0, end, true};
  KineticRun<MomentFluid> run(p);
  run.start();
  run.until(end);
  return run.physics->growth()->fit();
}

/// The least damped root of w^3 + c2 w^2 + c1 w + c0, by Newton from a guess.
std::complex<double> root(std::complex<double> w, std::complex<double> c2, std::complex<double> c1,
                          std::complex<double> c0) {
  for (int n = 0; n < 50; ++n) w -= (((w + c2) * w + c1) * w + c0) / ((3.0 * w + 2.0 * c2) * w + c1);
  return w;
}

struct SampleSet : train::Dataset {
  std::vector<SamplePtr> samples;
  void open(Context&) override {}
  std::int64_t size() const override { return std::ssize(samples); }
  std::vector<train::FieldInfo> fields() const override { return {}; }
  std::vector<SamplePtr> read(std::span<const std::int64_t> ids) override {
    std::vector<SamplePtr> out;
    for (auto id : ids) out.push_back(samples[id]);
    return out;
  }
  void add(const std::array<double, 7>& numbers) {
    auto kept = std::make_shared<std::array<double, 7>>(numbers);
    auto sample = std::make_shared<train::Sample>();
    sample->id = size();
    sample->fields.emplace("wavenumber", io::tensor_of(kept->data(), {1}));
    const char* names[] = {"temperature", "velocity", "heat_flux"};
    for (int c = 0; c < 3; ++c) sample->fields.emplace(names[c], io::tensor_of(kept->data() + 1 + 2 * c, {2}));
    sample->storage = kept;
    samples.push_back(std::move(sample));
  }
};

}  // namespace

TEST_CASE("the fluid without heat flux has Langmuir waves that do not damp") {
  // w^2 = 1 + 3 k^2
  const auto fit = damped("0.5", ClosureParams::Type::none, 40.0);
  CHECK(std::abs(fit.gamma) < 2e-5);
  CHECK(fit.omega == Approx(std::sqrt(1.75)).epsilon(1e-4));
}

TEST_CASE("the closure of Hammett and Perkins damps as its cubic says") {
  // With u = w n/k, p = (w^2 - 1) n/k^2 and q = i a (p - n):  w^3 - i a k w^2 - (1 + 3 k^2) w + i a k (1 + k^2) = 0.
  const double k = 0.5, a = -std::sqrt(8.0 / M_PI);
  const std::complex<double> i(0.0, 1.0);
  const auto w = root({1.3, -0.1}, -i * a * k, -(1.0 + 3.0 * k * k), i * a * k * (1.0 + k * k));
  const auto fit = damped("0.5", ClosureParams::Type::hammett_perkins, 40.0);
  INFO("gamma " << fit.gamma << " of " << w.imag() << ", omega " << fit.omega << " of " << w.real());
  CHECK(fit.gamma == Approx(w.imag()).epsilon(0.005));
  CHECK(fit.omega == Approx(w.real()).epsilon(0.001));
}

TEST_CASE("the network's gradient is that of finite differences") {
  for (auto reach : {HeatFluxKernel::Reach::nonlocal, HeatFluxKernel::Reach::pointwise}) {
    Comm comm(MPI_COMM_SELF);
    Log log;
    Timing timing;
    Context context{comm, log, timing};
    HeatFluxKernel net({{5, 4}, reach}, context);
    SampleSet data;
    data.add({0.3, 1.0, 0.2, 0.5, -0.7, 0.1, 0.9});
    data.add({0.7, -0.4, 1.2, 0.3, 0.6, -1.1, 0.2});
    net.fit_statistics(data, context);
    const train::FlatLayout layout(net.parameters(), 1000);
    train::FlatBuffer weights(layout, DType::f64), gradients(layout, DType::f64), scratch(layout, DType::f64);
    net.initialise(weights.views(), 7);
    const double half[] = {0.5}, one[] = {1.0};
    auto loss = [&] {
      train::TermSum term[1];
      net.gradient(data.samples, weights.views(), one, scratch.views(), term, [](int) {});
      return term[0].sum;
    };
    train::TermSum term[1];
    net.gradient(data.samples, weights.views(), half, gradients.views(), term, [](int) {});
    CHECK(term[0].count == 2.0);
    for (std::size_t k = 0; k < layout.tensors().size(); ++k)
      for (std::size_t j = 0; j < weights.values<double>(k).size(); ++j) {
        double& w = weights.values<double>(k)[j];
        const double h = 1e-6, kept = w;
        w = kept + h;
        const double up = loss();
        w = kept - h;
        const double down = loss();
        w = kept;
        CHECK(gradients.values<double>(k)[j] == Approx(0.5 * (up - down) / (2 * h)).epsilon(1e-5).margin(1e-8));
      }
  }
}

TEST_CASE("waves of a distribution whose heat flux is known") {
  // The third Hermite polynomial has a heat flux and neither flow nor pressure: q = b sin(kx), T = 1, u = 0. A shift of
  // the velocity by u = c cos(kx) has a flow and, beyond c^2, nothing else.
  VlasovPoisson::Params p = wave(
      "0.5", 16, 48,
      "maxwellian(v - 0.01*cos(k*x)) * (1 + 0.02*sin(k*x)*((v - 0.01*cos(k*x))^3 - 3*(v - 0.01*cos(k*x)))/6)", 8.0);
  KineticRun<VlasovPoisson> run(p);
  run.start();
  const auto folder = std::filesystem::path("scratch/heat_flux");
  std::filesystem::create_directories(folder);
  run.context.run_directory = folder.string();
  {
    HeatFluxWriter writer({"electron", {1, 2}, 1, 0.0}, run.context);
    writer.attach(*run.physics);
    writer.observe(run.state, 0, 0.0);
  }
  const auto file = io::File::open((folder / "heat_flux.h5").string());
  auto rows = [&](const char* name) { return file.read<std::vector<double>>(name); };
  CHECK(rows("wavenumber")[0] == Approx(0.5).epsilon(1e-4));
  CHECK(rows("wavenumber")[1] == Approx(1.0).epsilon(1e-4));
  const auto u = rows("velocity"), q = rows("heat_flux"), T = rows("temperature");
  REQUIRE(q.size() == 4);
  CHECK(u[0] == Approx(0.01).epsilon(1e-3));
  CHECK(u[1] == Approx(0.0).margin(1e-5));
  CHECK(q[0] == Approx(0.0).margin(1e-5));
  CHECK(q[1] == Approx(-0.02).epsilon(1e-3));  // sin(kx) = Re(-i exp(ikx))
  for (double t : T) CHECK(std::abs(t) < 1e-5);
  for (int c : {2, 3}) CHECK(std::abs(q[c]) < 1e-5);
}

TEST_CASE("messages of the closure") {
  MomentFluid::Params p;
  p.length = "-1";
  CHECK_THROWS_WITH(KineticRun<MomentFluid>(p), "length: -1 must be larger than 0");
  p.length = "4*pi";
  p.density = "sin(x)";
  KineticRun<MomentFluid> run(p);
  CHECK_THROWS_WITH(run.start(), "density is 0 at x = 0; it must be larger than 0");
}
