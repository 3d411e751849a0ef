// Everything that a deck can name from this plugin.
#include "core/plugin/registry.hpp"
#include "plugins/cosmo/physics/particle_mesh.hpp"
#include "plugins/cosmo/tasks/infer_cosmology.hpp"
#include "plugins/cosmo/tasks/structure_boxes.hpp"
#include "plugins/cosmo/writers/matter.hpp"

namespace cambium::cosmo {

void register_types(Registry& registry) {
  registry.add<ParticleMeshPhysics>("particle_mesh", "dark matter in an expanding box, by a particle mesh")
      .synonyms({"nbody", "n_body", "cosmology", "gravity", "pm", "dark_matter", "cosmo"});
  registry.add<MatterWriter>("matter", "particles on a mesh and power spectra over the scale factor, HDF5 for xarray")
      .synonyms({"density", "power_spectrum", "counts", "h5", "hdf5"});
  registry.add<StructureBoxes>("structure_boxes", "boxes of dark matter for many cosmologies, in one file for training")
      .synonyms({"boxes", "ensemble", "cosmologies", "latin_hypercube"});
  registry
      .add<InferCosmology>("infer_cosmology",
                           "cosmological parameters by networks, compared with fits of power spectra")
      .synonyms({"parameters", "inference", "regression", "ridge"});
  registry.renamed<Physics>("structure_growth", "particle_mesh");
}

}  // namespace cambium::cosmo
