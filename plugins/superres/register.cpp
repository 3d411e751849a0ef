// Registers all types of this plugin that a deck can name.
#include "core/plugin/registry.hpp"
#include "plugins/superres/convection/convection_cost.hpp"
#include "plugins/superres/datasets/corrections.hpp"
#include "plugins/superres/datasets/crops.hpp"
#include "plugins/superres/datasets/plumes.hpp"
#include "plugins/superres/datasets/snapshots.hpp"
#include "plugins/superres/models/cavity.hpp"
#include "plugins/superres/models/rayleigh_benard.hpp"
#include "plugins/superres/networks/fourier_operator.hpp"
#include "plugins/superres/networks/vision_transformer.hpp"
#include "plugins/superres/physics/cavity.hpp"
#include "plugins/superres/physics/rayleigh_benard.hpp"
#include "plugins/superres/tasks/find_plumes.hpp"
#include "plugins/superres/tasks/reconstruct.hpp"
#include "plugins/superres/tasks/score_forecasts.hpp"
#include "plugins/superres/tasks/spin_up.hpp"
#include "plugins/superres/tasks/verify.hpp"
#include "plugins/superres/tasks/write_well.hpp"
#include "plugins/superres/writers/fields.hpp"
#include "plugins/superres/writers/spectrum.hpp"

namespace cambium::superres {

void register_types(Registry& registry) {
  registry.add<RayleighBenard>("rayleigh_benard", "2-D or 3-D Boussinesq convection between a warm and a cold plate")
      .synonyms({"convection", "boussinesq", "rb", "rbc", "rayleigh_benard_convection"});
  registry.add<Cavity>("cavity", "2-D Boussinesq convection in a square with a warm and a cold side wall")
      .synonyms({"heated_cavity", "box", "square"});

  registry.add<RayleighBenardForecast>("rayleigh_benard", "the layer between two plates, for data assimilation")
      .synonyms({"convection", "boussinesq", "rb", "rbc"});
  registry.add<CavityForecast>("cavity", "the square with warm and cold side walls, for data assimilation");

  registry.add<ConvectionCostOf<PlatesSetup, true>>("rayleigh_benard",
                                                    "rows, ends and messages of a step of convection");
  registry.add<ConvectionCostOf<CavitySetup, false>>("cavity", "rows, ends and messages of a step of convection");

  registry.add<Verify>("verify", "residuals of equations, given as text, evaluated on data")
      .synonyms({"residual", "residuals", "check_equations"});
  registry
      .add<Reconstruct>("reconstruct",
                        "interpolation and super-resolution of coarse samples, evaluated by physical errors")
      .synonyms({"super_resolution", "superres", "upscale", "interpolate", "downscale"});
  registry.add<FindPlumes>("find_plumes", "plumes found by networks, by thresholds and by regressions, in one table")
      .synonyms({"segment", "segmentation", "plumes"});
  registry
      .add<ScoreForecasts>("score_forecasts",
                           "VRMSE of forecasts by persistence, the solver and networks, of one step and by lead")
      .synonyms({"vrmse", "rollout", "benchmark", "the_well"});
  registry.add<WriteWell>("write_well", "runs of convection in the layout of The Well, for its loaders")
      .synonyms({"the_well", "export_well", "to_well"});
  registry.add<SpinUp>("spin_up", "time until simulations reach their statistically steady state");

  registry.add<Crops>("crops", "coarse windows of flows by (t, x, z), with points of the fine data as targets")
      .synonyms({"patches", "windows", "super_resolution"});
  registry.add<Plumes>("plumes", "snapshots of convection with masks of plumes, labelled by a rule of the deck")
      .synonyms({"segmentation", "masks", "images"});
  registry.add<Snapshots>("snapshots", "consecutive frames of flows and those that follow, for forecasts")
      .synonyms({"frames", "the_well", "rollout", "time_series"});
  registry
      .add<Corrections>("corrections",
                        "differences of a filtered fine run from the solver on a coarse grid, after each interval")
      .synonyms({"subgrid", "coarse_pairs", "closure", "learned_correction"});
  registry
      .add<FourierOperator>("fourier_operator",
                            "Fourier neural operator: super-resolution of crops, forecasts of snapshots")
      .synonyms({"fno", "fourier_neural_operator", "neural_operator"});
  registry
      .add<VisionTransformer>("vision_transformer",
                              "transformer of patches with axial attention: super-resolution of crops, forecasts of "
                              "snapshots")
      .synonyms({"vit", "axial_transformer", "avit", "transformer"});
  registry.add<FieldsWriter>("fields", "p, b, u, w at cell centres over time, HDF5 in (t, x, z) as Dedalus writes it")
      .synonyms({"h5", "hdf5", "dedalus", "snapshots", "field"});
  registry.add<SpectrumWriter>("spectrum", "spectra of u, w and b along x")
      .synonyms({"spectra", "energy_spectrum", "fourier"});
}

}  // namespace cambium::superres
