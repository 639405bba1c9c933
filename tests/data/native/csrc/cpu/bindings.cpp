TORCH_LIBRARY_EXPAND(TORCH_EXTENSION_NAME, ops) {
  ops.def("on_the_processor(Tensor x) -> Tensor");
}
