"""Which operators run in float16, in float32, or in the widest type they are given."""

# ruff: noqa: SIM905 - names are easier to read in lines than one a line

FP16_FUNCS = """
    Convolution Deconvolution FullyConnected RNN
""".split()
"""Operators whose floating inputs are converted to float16."""

FP32_FUNCS = """
    Convolution_v1 IdentityAttachKLSparseReg arccos _sparse_arccos arcsin cosh _sparse_cosh erfinv
    sinh tan _sparse_tan arctanh _sparse_arcsin _sparse_arctanh _contrib_MultiBoxDetection
    _contrib_MultiBoxPrior _contrib_MultiBoxTarget exp expm1 _sparse_exp _sparse_expm1 log log10
    log2 log1p broadcast_power square _sparse_square reciprocal _RDivScalar _rdiv_scalar rsqrt
    rcbrt _Power _PowerScalar _power _power_scalar _RPowerScalar _rpower_scalar linalg_sumlogdiag
    _Hypot _HypotScalar _hypot _hypot_scalar broadcast_hypot _square_sum _contrib_hawkesll sum
    sum_axis nansum prod nanprod mean norm softmin khatri_rao moments gamma gammaln _linalg_gelqf
    _linalg_gemm _linalg_gemm2 _linalg_potrf _linalg_potri _linalg_sumlogdiag _linalg_syevd
    _linalg_syrk _linalg_trmm _linalg_trsm _linalg_makediag _linalg_extractdiag _linalg_maketrian
    _linalg_extracttrian _linalg_inverse _linalg_det _linalg_slogdet linalg_syrk linalg_potrf
    linalg_potri linalg_gemm2 linalg_gemm linalg_gelqf linalg_trmm linalg_trsm linalg_makediag
    linalg_extractdiag linalg_maketrian linalg_extracttrian linalg_inverse linalg_det
    linalg_slogdet _NDArray _Native _contrib_count_sketch _contrib_SyncBatchNorm _contrib_fft
    _sparse_gamma _sparse_gammaln _sparse_log _sparse_log10 _sparse_log1p _sparse_log2
    _sparse_make_loss _sparse_mean _sparse_norm _sparse_rsqrt argsort topk SoftmaxOutput softmax
    Softmax log_softmax InstanceNorm LayerNorm GroupNorm L2Normalization LRN SoftmaxActivation
    LinearRegressionOutput LogisticRegressionOutput MAERegressionOutput
    _sparse_LinearRegressionOutput _sparse_LogisticRegressionOutput _sparse_MAERegressionOutput
    SVMOutput softmax_cross_entropy smooth_l1 MakeLoss make_loss Custom CTCLoss _contrib_CTCLoss
    _contrib_ctc_loss ctc_loss _contrib_DeformableConvolution _contrib_DeformablePSROIPooling
""".split()
"""Operators whose inputs are converted to float32: float16 has too little range for them."""

WIDEST_TYPE_CASTS = """
    _Plus _plus _Minus _sub _Mul _Div _div _scatter_elemwise_div _Mod _Not_Equal _Equal _equal
    _Greater _greater _Greater_Equal _greater_equal _Lesser _Lesser_Equal _lesser _lesser_equal
    _Logical_And _Logical_Or _Logical_Xor _logical_and _logical_or _logical_xor _maximum _minimum
    _minus _mod _mul _not_equal Concat concat Correlation ElementWiseSum _sparse_ElementWiseSum
    add_n _sparse_add_n batch_dot broadcast_add broadcast_plus broadcast_div broadcast_equal
    broadcast_greater broadcast_greater_equal broadcast_lesser broadcast_lesser_equal
    broadcast_logical_and broadcast_logical_or broadcast_logical_xor broadcast_maximum
    broadcast_minimum broadcast_minus broadcast_mod broadcast_mul broadcast_not_equal
    broadcast_sub dot elemwise_add elemwise_div elemwise_mul elemwise_sub stack _Maximum _Minimum
    _contrib_MultiProposal _contrib_PSROIPooling _contrib_Proposal _contrib_ROIAlign
    _contrib_box_iou _contrib_box_nms _contrib_box_non_maximum_suppression _contrib_dgl_adjacency
    _contrib_dgl_csr_neighbor_non_uniform_sample _contrib_dgl_csr_neighbor_uniform_sample
    _contrib_dgl_graph_compact _contrib_dgl_subgraph _contrib_edge_id
    _contrib_interleaved_matmul_encdec_qk _contrib_interleaved_matmul_encdec_valatt
    _contrib_interleaved_matmul_selfatt_qk _contrib_interleaved_matmul_selfatt_valatt where
    _sparse_where _sparse_broadcast_add _sparse_broadcast_div _sparse_broadcast_minus
    _sparse_broadcast_mul _sparse_broadcast_plus _sparse_broadcast_sub _sparse_dot
    _sparse_elemwise_add _sparse_elemwise_div _sparse_elemwise_mul _sparse_elemwise_sub
    _sparse_sum random_pdf_gamma random_pdf_exponential random_pdf_uniform
    random_pdf_negative_binomial random_pdf_generalized_negative_binomial random_pdf_dirichlet
    random_pdf_normal random_pdf_poisson _random_pdf_gamma _random_pdf_exponential
    _random_pdf_uniform _random_pdf_negative_binomial _random_pdf_generalized_negative_binomial
    _random_pdf_dirichlet _random_pdf_normal _random_pdf_poisson
""".split()
"""Operators of several arrays, converted to the widest type among them."""

CONDITIONAL_FP32_FUNCS = [
    ("Activation", "act_type", ["softrelu"]),
    ("LeakyReLU", "act_type", ["elu", "selu"]),
]
"""Operators that need float32 for some values of an attribute."""

LOSS_OUTPUT_FUNCTIONS = """
    SoftmaxOutput LinearRegressionOutput LogisticRegressionOutput MAERegressionOutput
""".split()
"""Operators that make their gradient themselves, whatever the loss is multiplied by."""
