"""What the network conv_net, written with Torch, says about decks and images that cannot work."""
# needs: torch
import numpy as np
from table import Table

DECK = """
run: {name: images, directory: out}
stages:
  - train:
      network: {type: conv_net, channels: [2]}
      dataset: {type: hdf5, files: [d.h5], fields: [{name: image}, {name: label}]}
      batch: 2
      steps: 1
      learning_rate: {type: constant, start: 1e-3}
"""
T = "stages[0].train."
IMAGES, LABELS = [[[float(k + i + j) for j in range(4)] for i in range(4)] for k in range(4)], [[0], [1], [0], [1]]
table = Table("conv_net", DECK)


def says(message, *overrides, **how):
    table.says(message, *overrides, command=how.pop("command", "run"), **how)


table.file("d.h5", {"image": IMAGES, "label": LABELS})
says("channels: name at least one convolution", T + "network.channels=[]", command="check")
says("channels: 0 channels are none; give 1 or more", T + "network.channels=[0]", command="check")
says("kernel_size: 4 has no middle; give an odd width", T + "network.kernel=4", command="check")
says("factor_ranks: a rank of -1 is invalid; give 0 for a full layer, or 1 and more", T + "network.factor_ranks=[-1, 0, 0]", command="check")
says("factor_ranks: 2 values for 3 layers; give one for each, 0 for a full one", T + "network.factor_ranks=[1, 0]", command="check")
table.file("line.h5", {"image": [[1.0, 2.0]] * 4, "label": LABELS})
says("conv_net reads images of shape (height, width) or (channels, height, width); field 'image' has the shape (2)", T + "dataset.files=[line.h5]")
says("3 convolutions halve an image of 4 x 4 to nothing; list fewer channels, or store images with their channels first", T + "network.channels=[2, 2, 2]")
table.file("last.h5", {"image": np.zeros((4, 8, 8, 3)), "label": LABELS})
says("field 'image' has the shape (8, 8, 3): its last axis, of 3, looks like the channels of an image, but conv_net reads (channels, height, width); "
     "store the images with their channels first, with numpy images.transpose(0, 3, 1, 2)", T + "dataset.files=[last.h5]")
table.file("two.h5", {"image": IMAGES, "label": [[0, 1]] * 4})
says("sample 0: 'label' has 2 values, but a class is one index, counted from 0; of probabilities or one-hot vectors store the index of the largest",
     T + "dataset.files=[two.h5]")
table.file("halves.h5", {"image": IMAGES, "label": [[0.5], [1.5], [0.5], [1.5]]})
says("sample 0: 'label' is 0.5, but classes are whole numbers that count from 0; number them so", T + "dataset.files=[halves.h5]")
table.file("alike.h5", {"image": IMAGES, "label": [[0]] * 4})
says("field 'label' names 1 class; classification needs two or more", T + "dataset.files=[alike.h5]")
table.file("far.h5", {"image": IMAGES, "label": [[0.0], [1.0], [2e9], [1.0]]})
says("field 'label' names the class 2000000000, but a model has 100000000 classes at most; number the classes from 0 without gaps",
     T + "dataset.files=[far.h5]")
table.file("narrow.h5", {"image": [[row[:2] for row in image] for image in IMAGES], "label": LABELS})
says("sample 0: field 'image' has the shape (4, 2), but the model reads images of 4 x 4 in 1 channel(s), channels first; give it images like those "
     "it was trained on", T + "validate={every: 1}", T + "validation={type: hdf5, files: [narrow.h5], fields: [{name: image}, {name: label}]}")
table.file("first.h5", {"image": np.arange(512.0).reshape(4, 2, 8, 8), "label": LABELS})
table.file("behind.h5", {"image": np.arange(512.0).reshape(4, 8, 8, 2), "label": LABELS})
says("the field 'image' has the shape (2, 8, 8) in the training set, but (8, 8, 2) in the validation set: equally many values in another order; "
     "transpose one of them", T + "dataset.files=[first.h5]",
     T + "validation={type: hdf5, files: [behind.h5], fields: [{name: image}, {name: label}]}")
table.file("unsigned.h5", {"image": np.array(IMAGES, "u4"), "label": np.array(LABELS, "u4")})
table.begins(T + "dataset.files=[unsigned.h5]")
table.file("more.h5", {"image": IMAGES, "label": [[0], [1], [2], [1]]})
says("sample 2: 'label' is the class 2, but the model was trained on classes 0 to 1; leave the sample out, or train with such samples",
     T + "validate={every: 1}",
     T + "validation={type: hdf5, files: [more.h5], fields: [{name: image}, {name: label}]}")
says("activations in bfloat16 are not compressed; take precision float32, or activations: {mode: recomputed}", T + "network.precision=bfloat16",
     T + "activations={keep: compressed}", command="check")

# Long short-term memory over bytes
says("byte_lstm needs a field 'text' with texts of two bytes or more; name theirs with input", T + "network={type: byte_lstm, width: 4}")
table.file("bytes.h5", {"text": [[1, 2, 3, 4]] * 4})
says("loss_on: answers needs a field 'answer' that marks them, which the data set lacks; take data that have one (type recall), name theirs with "
     "answers, or remove loss_on", T + "network={type: byte_lstm, width: 4, loss_on: answers}",
     T + "dataset={type: hdf5, files: [bytes.h5], fields: [{name: text}]}")
BYTES = T + "network={type: byte_lstm, width: 4}"
for value in (300, -1, 65.7):
    table.file(f"beyond_{value}.h5", {"text": [[1, 2, 3, value]] * 4})
    says(f"'text' must hold bytes, whole numbers from 0 to 255, but holds {value}", BYTES,
         T + f"dataset={{type: hdf5, files: [beyond_{value}.h5], fields: [{{name: text}}]}}")
MARKS = (T + "network={type: byte_lstm, width: 4, loss_on: answers}", T + "dataset={type: hdf5, files: [marks.h5], fields: [{name: text}, {name: answer}]}")
table.file("marks.h5", {"text": [[1, 2, 3, 4]] * 4, "answer": [[0, 0, 0]] * 4})
says("'answer' marks no byte; every text needs an answer", *MARKS)
table.file("half_marks.h5", {"text": [[1, 2, 3, 4]] * 4, "answer": [[0, 0.5, 1]] * 4})
says("'answer' must be 1 for an answer and 0 elsewhere, but holds 0.5", *MARKS, T + "dataset.files=[half_marks.h5]")

table.run()
