#include "core/train/data/register.hpp"

#include "core/plugin/registry.hpp"
#include "core/train/data/buffered_loader.hpp"
#include "core/train/data/hdf5_dataset.hpp"

namespace cambium::train {

void register_data(Registry& registry) {
  registry.add<Hdf5Dataset>("hdf5", "arrays of HDF5 files whose first axis counts samples");
  registry.add<BufferedLoader>("buffered", "keeps samples in memory by what is used soonest, and reads ahead");
}

}  // namespace cambium::train
